#include "cli/grade.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <sys/wait.h>

#include "cli/child.h"
#include "cli/compile.h"
#include "cli/paths.h"
#include "cli/source_lines.h"
#include "comm/errors.h"
#include "files/temporary_folder.h"
#include "verdict/verdict_json.h"

namespace rankbox::cli {

namespace fs = std::filesystem;

namespace {

/// What the judging process told us; see judge.h and stop_report.h for the lines.
struct Report {
  std::string verdict;    // JSON; empty: it did not get that far
  std::string last_case;  // the replay line of the case it was at
  std::string how;        // "signal", "exit" or "asked": how it stopped
  int number = 0;         // the signal or exit code
  int rank = -1;          // that stopped it
  std::string addresses;  // where
};

Report parse_report(const std::string& text) {
  Report report;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    const std::string word = line.substr(0, space);
    const std::string rest = line.substr(space + 1);
    if (word == "case") report.last_case = rest;
    if (word == "verdict") report.verdict = rest;
    if (word == "thrown") report.addresses = rest;
    // Several threads may answer: the first that is in the learner's code.
    if (word == "stopped" && report.addresses.empty()) {
      std::istringstream fields(rest);
      std::string skipped;
      fields >> report.how >> report.number >> skipped >> report.rank >> skipped;
      std::getline(fields >> std::ws, report.addresses);
    }
  }
  return report;
}

std::string signal_in_words(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "segmentation fault: a null or dangling pointer, an index out of range, or endless "
             "recursion?";
    case SIGABRT:
      return "aborted: an exception left a thread, an assertion failed, or memory was overwritten?";
    case SIGFPE:
      return "division by zero, or another arithmetic error";
    case SIGXFSZ:
      return "it wrote too large a file";
    default:
      return fmt::format("ended by signal {} ({})", signal, strsignal(signal));
  }
}

// The judging process ended without a verdict.
Failure failure_of_end(const ChildResult& child, const Report& report,
                       const GradeOptions& options) {
  Failure failure;
  failure.rank = report.rank;
  failure.replay = report.last_case;
  failure.kind = FailureKind::kCrash;
  const int signal = WIFSIGNALED(child.status) ? WTERMSIG(child.status) : 0;
  if (child.timed_out || signal == SIGXCPU) {
    failure.kind = FailureKind::kTimeout;
    failure.message = fmt::format("still running after {:g} s: ", options.seconds);
    failure.message +=
        child.was_computing || signal == SIGXCPU
            ? "does a loop never end?"
            : "all threads are asleep outside of Rankbox (a mutex, a sleep, a join?)";
  } else if (report.how == "exit") {
    failure.message = fmt::format("it called exit({}) instead of returning", report.number);
  } else if (signal == SIGKILL) {
    failure.kind = FailureKind::kMemory;
    failure.message = "killed by the system, most likely for using too much memory";
  } else if (signal != 0) {
    failure.message = signal_in_words(signal);
  } else {
    failure.message = fmt::format("it ended the process with exit code {} instead of returning",
                                  WEXITSTATUS(child.status));
  }
  return failure;
}

Verdict verdict_of(const Exercise& exercise, const ChildResult& child, const Report& report,
                   const GradeOptions& options) {
  // A process that had to be stopped has no say, whatever it wrote.
  if (!report.verdict.empty() && child.status == 0 && !child.timed_out) {
    return verdict_from_json(report.verdict);
  }
  return failed_before_running(exercise.name, failure_of_end(child, report, options));
}

// Errors name the file as the compiler was given it; unknown places are filled in as well as they
// can be: the line that threw or crashed, or else where the function starts.
void complete_place(Failure& failure, const Exercise& exercise, const Report& report,
                    const std::string& library, const std::string& source) {
  if (failure.line == 0) {
    failure.line = source_line(library, report.addresses, source).line;
    if (failure.line == 0 && failure.kind != FailureKind::kTimeout) {
      failure.line = line_of_function(source, exercise.name);
    }
    failure.file = source;
  }
  failure.file = display_path(failure.file);
}

void require_readable(const std::string& file) {
  if (fs::is_directory(file))
    throw InvalidArgument(fmt::format("{} is a folder, not a file", file));
  if (!fs::exists(file)) throw InvalidArgument(fmt::format("there is no file {}", file));
  if (!std::ifstream(file)) throw InvalidArgument(fmt::format("cannot read {}", file));
}

/// @param temporary where the program may leave files, which goes away with whatever it left
/// @param solution the compiled reference solution; empty: the promised cost does not need it
ChildResult run_judge(const Exercise& exercise, const std::string& library,
                      const std::string& solution, const std::string& temporary,
                      const GradeOptions& options) {
  ChildOptions child;
  child.temporary = temporary;
  child.command = {"/proc/self/exe", "judge", exercise.name, library, "--command", options.command};
  if (!options.replay.empty()) {
    child.command.insert(child.command.end(), {"--replay", options.replay});
  }
  if (!solution.empty()) {
    child.command.insert(child.command.end(), {"--solution", solution});
  }
  if (!options.picture.empty()) {
    child.command.insert(child.command.end(), {"--picture", options.picture});
    child.file_bytes = std::int64_t{1} << 32;  // a million events are some hundred megabytes
  }
  child.seconds = options.seconds;
  child.memory_bytes = std::int64_t{options.memory_mb} << 20;
  child.ask_where = true;
  return run_child(child);
}

/// Throws Error if it does not compile.
void compile_solution(const Exercise& exercise, const std::string& library) {
  const Compiled compiled = compile(exercise, solution_path(exercise), library);
  if (!compiled.failure) return;
  throw Error(fmt::format(
      "the cost of {} is that of its solution, which does not compile: {}:{}: {}", exercise.name,
      compiled.failure->file, compiled.failure->line, compiled.failure->message));
}

}  // namespace

Grade grade(const Exercise& exercise, const GradeOptions& options) {
  require_readable(options.file);
  if (!options.replay.empty()) check_replay(exercise, options.replay);

  const TemporaryFolder temporary;
  const std::string library = temporary.path("exercise.so");
  const std::string source = fs::absolute(options.file).string();

  Grade grade;
  // From the root, files inside it have short names in all messages.
  const std::string shown = display_path(source);
  Compiled compiled = compile(exercise, shown, library);
  grade.compiler_output = std::move(compiled.output);
  if (compiled.failure) {
    grade.verdict = failed_before_running(exercise.name, *compiled.failure);
    if (compiled.compiler_missing) grade.verdict.status = Status::kError;
    return grade;
  }

  std::string solution;
  if (is_cost_of_solution(exercise) && options.picture.empty()) {
    solution = temporary.path("solution.so");
    compile_solution(exercise, solution);
  }
  const ChildResult child = run_judge(exercise, library, solution, temporary.path(""), options);
  const Report report = parse_report(child.report);
  grade.program_output = child.output;
  grade.verdict = verdict_of(exercise, child, report, options);
  if (grade.verdict.failure) {
    complete_place(*grade.verdict.failure, exercise, report, library, source);
  }
  return grade;
}

}  // namespace rankbox::cli
