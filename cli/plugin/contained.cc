#include "cli/plugin/contained.h"

#include <csignal>
#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <sys/wait.h>

#include "cli/plugin/library_info.h"
#include "cli/support/child.h"
#include "cli/support/container.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "judge/stop_report.h"
#include "judge/verdict_json.h"

namespace rankbox::cli {

namespace {

/// The report of the process; see verdict_report.h and stop_report.h for the lines.
struct Report {
  std::string verdict;    // JSON; empty: the process ended earlier
  std::string failing;    // likewise: of a verdict that might have gained words
  std::string result;     // likewise
  std::string mistake;    // empty: none
  std::string last_case;  // the replay line of the current case
  Stop stop;              // the first in the learner's code; `how` is empty: it did not stop
  std::string addresses;  // of a failure
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
    if (word == "failing") report.failing = rest;
    if (word == "result") report.result = rest;
    if (word == "mistake") report.mistake = rest;
    if (word == "at") report.addresses = hexadecimal_words(rest);
    // Several threads may report: keeps the first one in the learner's code.
    if (word == "stopped" && report.addresses.empty() && report.failing.empty()) {
      const std::optional<Stop> stop = parse_stop(line);
      if (stop) report.addresses = stop->addresses;
      report.stop = stop.value_or(report.stop);
    }
  }
  return report;
}

/// Names the time that has passed: more than the limit where other programs took the cores.
std::string still_running(double seconds, double limit) {
  if (seconds < 1.2 * limit) return fmt::format("still running after {:g} s", limit);
  return fmt::format("still running after {:.0f} s, with a limit of {:g} s of processor time",
                     seconds, limit);
}

// Returns the failure of a process that ended without a verdict.
Failure failure_of_end(const ChildResult& child, const Report& report, double seconds) {
  Failure failure;
  failure.rank = report.stop.rank;
  failure.replay = report.last_case;
  failure.kind = FailureKind::kCrash;
  // A launcher encodes a rank's signal in its exit code, as shells do.
  const int exit_code = WIFEXITED(child.status) ? WEXITSTATUS(child.status) : 0;
  const int signal = WIFSIGNALED(child.status) ? WTERMSIG(child.status)
                     : exit_code > 128         ? exit_code - 128
                                               : 0;
  if (child.timed_out || signal == SIGXCPU) {
    failure.kind = FailureKind::kTimeout;
    failure.message = still_running(child.seconds, seconds) + ": ";
    failure.message +=
        child.was_computing || signal == SIGXCPU
            ? "does a loop never end?"
            : "all threads are asleep outside of Rankbox (a mutex, a sleep, a join?)";
  } else if (child.too_large) {
    failure.kind = FailureKind::kMemory;
    failure.message = "all ranks together use too much memory";
  } else if (child.too_many) {
    failure.message = "it starts too many threads: does each that it starts end?";
  } else if (report.stop.how == "exit") {
    failure.message = in_words(report.stop);
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

/// Returns the verdict that was certain before the process ended early; nothing if none was.
std::optional<Verdict> failing_verdict(const ContainedOptions& options, const Report& report) {
  if (report.failing.empty()) return std::nullopt;
  try {
    Verdict verdict = verdict_from_json(report.failing);
    if (verdict.name != options.name || verdict.status != Status::kFail) return std::nullopt;
    for (Check& check : verdict.checks)  // none was made in full
      if (check.status == CheckStatus::kPass) check.status = CheckStatus::kSkipped;
    return verdict;
  } catch (const std::runtime_error&) {  // the learner's code wrote it
  }
  return std::nullopt;
}

Contained verdict_of(const ContainedOptions& options, const ChildResult& child,
                     const Report& report) {
  // The verdict of a killed process is ignored.
  if (!report.verdict.empty() && child.status == 0 && !child.timed_out && !child.too_large &&
      !child.too_many) {
    try {
      Verdict verdict = verdict_from_json(report.verdict);
      const bool may_be_error = options.is_trusted || verdict.status != Status::kError;
      if (verdict.name == options.name && may_be_error)
        return {.verdict = std::move(verdict), .reported = true};
    } catch (const std::runtime_error&) {  // as one of another exercise
    }
    return {.verdict = failed_before_running(
                options.name, {.kind = FailureKind::kCrash,
                               .message = "it wrote to the judge's file descriptor"})};
  }
  if (auto verdict = failing_verdict(options, report))
    return {.verdict = *std::move(verdict), .reported = true};
  return {.verdict =
              failed_before_running(options.name, failure_of_end(child, report, options.seconds))};
}

// Names the file as passed to the compiler, and fills in an unknown line: the one that threw or
// crashed, or else the function's first line.
void complete_place(Failure& failure, const ContainedOptions& options, const Report& report) {
  if (failure.line == 0) {
    failure.line = source_line(options.library, report.addresses, options.source);
    if (failure.line == 0 && failure.kind != FailureKind::kTimeout) {
      failure.line = line_of_function(options.source, options.function);
    }
    failure.file = options.source;
  }
  failure.file = display_path(failure.file);
}

/// Returns a container with this program, the library, the registries, and what `options` add.
Container container_of(const ContainedOptions& options) {
  Container container;
  container.hidden = {project_root()};
  container.readable = own_program();
  std::vector<std::string> paths = {options.library, absolute_path("comm/comm.h"),
                                    absolute_path("exercises/registry.toml")};
  if (course_root() != project_root()) paths.push_back(course_root() + "/registry.toml");
  paths.insert(paths.end(), options.readable.begin(), options.readable.end());
  for (const std::string& path : paths) {
    container.readable.push_back({std::filesystem::canonical(path).string(),
                                  std::filesystem::path(path).lexically_normal().string()});
  }
  container.writable = options.writable;
  return container;
}

}  // namespace

Failure failure_of_end(const ChildResult& child, const ContainedOptions& options) {
  const Report report = parse_report(child.report);
  Failure failure = failure_of_end(child, report, options.seconds);
  complete_place(failure, options, report);
  return failure;
}

Contained run_contained(const ContainedOptions& options) {
  ChildOptions child_options;
  child_options.temporary = options.temporary;
  child_options.command = {own_path()};
  child_options.command.insert(child_options.command.end(), options.words.begin(),
                               options.words.end());
  child_options.seconds = options.seconds;
  child_options.memory_bytes = std::int64_t{options.memory_mb} << 20;
  child_options.file_bytes = options.file_bytes;
  child_options.ask_where = true;
  child_options.tree_bytes = child_options.memory_bytes;
  child_options.tree_threads = options.tree_threads;
  child_options.on_output = options.on_output;
  std::optional<Container> container;
  if (options.in_container && container_problem().empty()) {
    container = container_of(options);
    child_options.container = &*container;
    child_options.directory = project_root();
  }
  const ChildResult child = run_child(child_options);
  if (container && child.report.empty() && !child.timed_out)
    throw Error("the judge did not start: " + last_line(child.output));
  const Report report = parse_report(child.report);
  if (!report.mistake.empty() && !options.in_container) throw InvalidArgument(report.mistake);

  Contained contained = verdict_of(options, child, report);
  contained.output = child.output;
  if (child.output_bytes > std::ssize(child.output)) {
    contained.output += fmt::format("\n[cut here, after {} of {} bytes]\n", child.output.size(),
                                    child.output_bytes);
  }
  contained.result = report.result;
  if (contained.verdict.failure) complete_place(*contained.verdict.failure, options, report);
  return contained;
}

}  // namespace rankbox::cli
