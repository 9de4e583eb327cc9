#include "cli/compare/supervisor.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/compare/measure/session.h"
#include "cli/compare/plan/plan.h"
#include "cli/plugin/contained.h"
#include "cli/plugin/library_info.h"
#include "cli/support/child.h"
#include "cli/support/machine_memory.h"
#include "cli/support/now.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "judge/verdict.h"

namespace rankbox::cli {
namespace {

// The run has no time limit; each call has one.
constexpr double kNoLimitSeconds = 30 * 24 * 3600;
// The limit for reference jobs: a machine that hangs must not block forever.
constexpr double kSilenceSeconds = 1800;
// Added to the deadline, so that the processes' own, more detailed report comes first.
constexpr double kTimeToReport = 8;
constexpr double kTimeToEnd = 5;
// The stack of a rank's thread, which counts as memory even if unused.
constexpr std::int64_t kStackBytes = std::int64_t{16} << 20;

/// Returns 90% of this machine's memory, so that one program cannot exhaust it.
std::int64_t most_memory() { return machine_memory_bytes() / 10 * 9; }

}  // namespace

Supervisor::Supervisor(const Plan& plan, Workers workers, std::vector<YourFile> yours,
                       const Compilations& compiled, Output& output, std::string folder)
    : plan_(plan),
      workers_(std::move(workers)),
      yours_(std::move(yours)),
      libraries_(compiled.libraries),
      uncompiled_(compiled.failures),
      output_(output),
      folder_(std::move(folder)) {}

void Supervisor::run_world(int ranks) {
  failures_ = uncompiled_;
  for (const Row& row : known_) {
    if (row.failure && row.world_size == ranks) {
      failures_.try_emplace(file_of(row).exercise, *row.failure);
    }
  }
  contests_ = 0;
  has_started_ = false;
  for (int start = 0;; ++start) {
    run_ = {};
    run_.heard_at = now();
    const std::string pipe =
        fmt::format("{}/rows-{}-{}-{}", folder_, workers_.backend, ranks, start);
    FrameReader reader(pipe);
    ChildOptions child;
    child.command = command(ranks);
    child.command.insert(child.command.end(), {"--stream", pipe});
    child.seconds = kNoLimitSeconds;
    if (workers_.backend == "sim") {
      child.memory_bytes = most_memory() + ranks * kStackBytes;
      child.temporary = folder_;
      child.ask_where = true;
    } else {
      child.file_bytes = std::numeric_limits<std::int64_t>::max();  // shared memory counts as files
      child.grace_seconds = kTimeToEnd;
    }
    const auto take_frame = [this](const Frame& frame) { take(frame); };
    child.keep_running = [&] {
      reader.drain(take_frame);
      return !is_overdue();
    };
    const ChildResult result = run_child(child);
    reader.drain(take_frame);
    progress_.clear();
    if (printed_.empty()) printed_ = result.output;
    if (!run_.failure.empty()) {
      if (run_.exit_code == 2) throw InvalidArgument(run_.failure);
      throw Error(run_.failure);
    }
    if (run_.is_done) return;
    const Row* const row = running_learners_job();
    if (row == nullptr) {
      const std::string line = last_line(result.output);
      // A user error: the processes have already described it.
      if (WIFEXITED(result.status) && WEXITSTATUS(result.status) == 2) {
        const std::size_t colon = line.find(": ");
        throw InvalidArgument(colon == std::string::npos ? line : line.substr(colon + 2));
      }
      throw Error(fmt::format("the measuring processes ended early: {}", line));
    }
    const YourFile& yours = file_of(*row);
    if (run_.row_failure) {
      failures_[yours.exercise] = *run_.row_failure;
      continue;
    }
    ContainedOptions where;
    where.function = yours.exercise;
    where.library = fmt::format("{}/{}-{}.so", folder_, yours.exercise, workers_.backend);
    where.source = yours.file;
    where.seconds = plan_.deadline_seconds;
    Failure failure = failure_of_end(result, where);
    if (result.timed_out && workers_.backend != "sim") {  // launchers report no place
      failure.message = fmt::format("still running after {:g} s", plan_.deadline_seconds);
    }
    failures_[yours.exercise] = {name_of(failure.kind), failure.message, failure.file,
                                 failure.line};
  }
}

std::vector<std::string> Supervisor::command(int ranks) {
  std::vector<std::string> options = workers_.options;
  for (const NamedFile& mine : libraries_) {
    if (failures_.contains(mine.name)) continue;
    options.emplace_back("--mine-library");
    options.push_back(mine.name + "=" + mine.file);
  }
  options.insert(options.end(), {"--first-contest", std::to_string(contests_)});
  return workers_.command(ranks, options);
}

void Supervisor::take(const Frame& frame) {
  run_.heard_at = now();
  switch (frame.kind) {
    case Frame::Kind::kStart:
      progress_.clear();
      if (!has_started_) output_.start(frame.lines, frame.devices);
      has_started_ = true;
      return;
    case Frame::Kind::kJob:
      if (!frame.rows.empty()) run_.contest = frame.rows;
      run_.job = static_cast<int>(frame.number);
      progress_.show(run_.contest[frame.number]);
      return;
    case Frame::Kind::kLeft:
      run_.job = -1;
      return;
    case Frame::Kind::kNote:
      notes_.push_back(frame.text);
      return;
    case Frame::Kind::kContest:
      progress_.clear();
      run_.job = -1;
      finish_contest(frame.rows);
      return;
    case Frame::Kind::kRowFailed: {
      Row row = frame.rows.front();
      complete_place(row);
      run_.row_failure = row.failure;
      return;
    }
    case Frame::Kind::kFailed:
      run_.failure = frame.text;
      run_.exit_code = frame.number;
      return;
    case Frame::Kind::kDone:
      run_.is_done = true;
      return;
  }
}

bool Supervisor::is_overdue() const {
  const double limit = running_learners_job() == nullptr
                           ? std::max(kSilenceSeconds, plan_.deadline_seconds)
                       : workers_.backend == "sim" ? plan_.deadline_seconds
                                                   : plan_.deadline_seconds + kTimeToReport;
  return now() - run_.heard_at > limit;
}

const Row* Supervisor::running_learners_job() const {
  if (run_.job < 0 || run_.job >= static_cast<int>(run_.contest.size())) return nullptr;
  const Row& row = run_.contest[static_cast<std::size_t>(run_.job)];
  return row.whose == Whose::kYours ? &row : nullptr;
}

const YourFile& Supervisor::file_of(const Row& row) const {
  return *std::ranges::find_if(yours_, [&](const YourFile& each) {
    return each.collective == row.collective && each.algorithm == row.algorithm;
  });
}

void Supervisor::finish_contest(std::vector<Row> rows) {
  for (Row& row : rows) {
    if (row.whose != Whose::kYours) continue;
    const auto known = std::ranges::find_if(known_, [&](const Row& each) {
      return each.whose == Whose::kYours && each.collective == row.collective &&
             each.algorithm == row.algorithm && each.op == row.op &&
             each.world_size == row.world_size && each.bytes == row.bytes;
    });
    if (known != known_.end() && !row.cost && row.skipped.empty()) {
      row.cost = known->cost;
      row.virtual_seconds = known->virtual_seconds;
    }
    if (!row.failure) continue;
    complete_place(row);
    failures_.try_emplace(file_of(row).exercise, *row.failure);
  }
  add_failures(rows);
  set_ratios(rows);
  ++contests_;
  output_.add(rows);
}

void Supervisor::complete_place(Row& row) const {
  if (row.failure->line != 0) return;
  const YourFile& yours = file_of(row);
  row.failure->file = display_path(yours.file);
  row.failure->line = line_of_function(yours.file, yours.exercise);
}

void Supervisor::add_failures(std::vector<Row>& rows) const {
  for (const YourFile& yours : yours_) {
    const auto failure = failures_.find(yours.exercise);
    if (failure == failures_.end() || yours.collective != rows.front().collective) continue;
    const auto is_same = [&](const Row& row) { return row.algorithm == yours.algorithm; };
    const bool is_there = std::ranges::any_of(
        rows, [&](const Row& row) { return is_same(row) && row.whose == Whose::kYours; });
    if (is_there) continue;
    Row row = rows.front();  // for its sizes
    row.algorithm = yours.algorithm;
    row.whose = Whose::kYours;
    row.time.reset();
    row.wrong.reset();
    row.cost.reset();
    row.virtual_seconds.reset();
    row.failure = failure->second;
    const auto reference = std::ranges::find_if(rows, is_same);
    rows.insert(reference == rows.end() ? rows.end() : reference + 1, row);
  }
}

}  // namespace rankbox::cli
