// Runs the measuring processes of a backend, and survives their crashes and hangs.
//
// The processes report through a pipe (stream.h). If they die, hang, or are killed while a
// learner's job runs, that job fails. They are then restarted at the current contest without it, so
// one wrong program costs one row, not the table.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/compare/report/output.h"
#include "cli/compare/stream.h"
#include "cli/compare/yours.h"

namespace rankbox::cli {

struct Workers {
  std::string backend;  // "sim", "mpi", "nccl"
  /// Returns the command that measures on this many ranks with these options.
  std::function<std::vector<std::string>(int ranks, const std::vector<std::string>& options)>
      command;
  std::vector<std::string> options;  // of the plan, for the processes
};

class Supervisor {
 public:
  /// @param yours the learner's files; `compiled` are those that compiled, for the workers' backend
  /// @param output receives the rows, by contest
  /// @param folder for the pipe
  Supervisor(const Plan& plan, Workers workers, std::vector<YourFile> yours,
             const Compilations& compiled, Output& output, std::string folder);

  /// Sets the sandbox's results for the learner's rows: cost, virtual time and failure. For
  /// backends that do not report them.
  void set_known(std::vector<Row> known) { known_ = std::move(known); }

  /// Blocks until all contests of one world are measured. Throws InvalidArgument or Error for a
  /// reported failure that is not a learner's; Interrupted while an InterruptGuard lives.
  void run_world(int ranks);

  /// Returns the first part of the learner's output.
  const std::string& printed() const { return printed_; }

  /// Returns a line for each measurement that failed although the others succeeded.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// The state of one launch of the processes.
  struct Run {
    std::vector<Row> contest;  // the current one
    int job = -1;              // the running one; -1: none
    double heard_at = 0;
    bool is_done = false;
    std::optional<RowFailure> row_failure;  // as the processes reported it before they ended
    std::string failure;                    // of the processes, not a learner's
    std::uint64_t exit_code = 0;
  };

  std::vector<std::string> command(int ranks);
  void take(const Frame& frame);
  bool is_overdue() const;
  /// Returns the learner's job that was running; null if none was.
  const Row* running_learners_job() const;
  const YourFile& file_of(const Row& row) const;
  void finish_contest(std::vector<Row> rows);
  /// If the row names no place, adds the line where the function begins.
  void complete_place(Row& row) const;
  void add_failures(std::vector<Row>& rows) const;

  const Plan& plan_;
  const Workers workers_;
  const std::vector<YourFile> yours_;
  const std::vector<NamedFile> libraries_;
  const std::map<std::string, RowFailure> uncompiled_;
  Output& output_;
  const std::string folder_;
  std::vector<Row> known_;
  std::map<std::string, RowFailure> failures_;  // in this world, by exercise
  std::size_t contests_ = 0;                    // of this world, completed
  bool has_started_ = false;                    // in this world
  Run run_;
  Progress progress_;
  std::string printed_;
  std::vector<std::string> notes_;
};

}  // namespace rankbox::cli
