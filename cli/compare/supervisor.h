// Runs the measuring processes of a backend, and survives their crashes and hangs.
//
// The processes report through a pipe (stream.h). When they die, hang, or are killed while a
// learner's job runs, that job fails, and they are restarted at the current contest without it. So
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
  /// The command that measures on so many ranks with these options.
  std::function<std::vector<std::string>(int ranks, const std::vector<std::string>& options)>
      command;
  std::vector<std::string> options;  // of the plan, for the processes
};

class Supervisor {
 public:
  /// @param yours their files; `compiled` are those that compiled, for the workers' backend
  /// @param output gets the rows, by contest
  /// @param folder for the pipe
  Supervisor(const Plan& plan, Workers workers, std::vector<YourFile> yours,
             const Compilations& compiled, Output& output, std::string folder);

  /// Sets what the sandbox found out about the learner's rows: cost, virtual time and failure. For
  /// backends that do not report them.
  void set_known(std::vector<Row> known) { known_ = std::move(known); }

  /// Measures all contests of one world. Blocks.
  /// Throws what the processes report that is not a learner's failure: InvalidArgument or Error;
  /// Interrupted while an InterruptGuard lives.
  void run_world(int ranks);

  /// The first part of what the learner's code printed.
  const std::string& printed() const { return printed_; }

  /// What could not be measured, though all else was: a line each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// The state of one start of the processes.
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
  /// The learner's job that was running; null if none was.
  const Row* offender() const;
  const YourFile& file_of(const Row& row) const;
  void finish_contest(std::vector<Row> rows);
  /// Adds the place where the function begins if the row names none.
  void complete_place(Row& row) const;
  void add_failures(std::vector<Row>& rows) const;

  const Plan& plan_;
  const Workers workers_;
  const std::vector<YourFile> yours_;
  const std::vector<Mine> libraries_;
  const std::map<std::string, RowFailure> uncompiled_;
  Output& output_;
  const std::string folder_;
  std::vector<Row> known_;
  std::map<std::string, RowFailure> failures_;  // in this world, by exercise
  std::size_t contests_ = 0;                    // of this world, that are done
  bool has_started_ = false;                    // in this world
  Run run_;
  Progress progress_;
  std::string printed_;
  std::vector<std::string> notes_;
};

}  // namespace rankbox::cli
