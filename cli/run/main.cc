// rankbox-run-BACKEND: runs a user's program, compiled as a library, on MPI or NCCL.
//
//   rankbox-run-mpi LIBRARY --options JSON
//
// `./rankbox run FILE --backend mpi` starts it. All processes of a launcher run it; the first one
// reports for all. Errors are one line that names the sandbox command that explains them.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/plugin/plugin.h"
#include "cli/run/program.h"
#include "cli/run/rank_output.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "comm/run_failure.h"
#include "comm/run_ranks.h"
#include "judge/failure_of.h"
#include "judge/verdict_json.h"

namespace rankbox::cli {
namespace {

/// The message for a signal that ends the process. A signal handler must not format it.
std::string& signal_message() {
  static std::string words;
  return words;
}

bool& is_over() {
  static bool over = false;
  return over;
}

void on_alarm(int /*signal*/) {
  write_unfinished_lines();
  (void)!write(STDERR_FILENO, signal_message().data(), signal_message().size());
  _exit(kTimeoutStatus);
}

/// Sets an alarm, the only way to end an endless loop.
void limit_time(const ProgramOptions& options, bool is_first) {
  if (is_first) {
    signal_message() = fmt::format(
        "rankbox run: timeout: still running after {:g} s; {} says where, --timeout S allows "
        "more\n",
        options.seconds, options.again);
  }
  std::signal(SIGALRM, on_alarm);
  // The first process reports before any other ends, since the launcher then ends all.
  const double seconds = options.seconds + (is_first ? 0 : 1);
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec =
      static_cast<suseconds_t>((seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6) + 1;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

/// Writes the result for the parent. Several processes may do so: the first one counts, since what
/// follows may be its consequence.
void write_result(const Verdict& verdict, const ProgramOptions& options, const RunReport& report) {
  if (options.result.empty()) return;
  const std::string unfinished = fmt::format("{}.{}", options.result, getpid());
  std::ofstream(unfinished) << to_json(verdict) << '\n' << figures_of(options, report) << '\n';
  (void)!link(unfinished.c_str(), options.result.c_str());
  std::remove(unfinished.c_str());
}

/// Returns the verdict of a run that threw.
Verdict failed_run(const std::exception& error, const ProgramOptions& options) {
  Failure failure = failure_of(error);
  if (!failure.file.empty()) failure.file = display_path(failure.file);
  return failed_before_running(options.name, failure);
}

void on_exit_called(int status, void* argument) {
  if (is_over()) return;
  end_rank_output();
  const auto& options = *static_cast<const ProgramOptions*>(argument);
  const std::string what =
      fmt::format("process {} called exit({}) instead of returning", launch().process, status);
  write_result(failed_before_running(options.name, {.kind = FailureKind::kCrash,
                                                    .rank = launch().process,
                                                    .file = options.name,
                                                    .message = what}),
               options, {});
  fmt::print(stderr, "rankbox run: crash: {}; {} says where\n", what, options.again);
  std::fflush(nullptr);
  _exit(status == 0 ? 1 : status);
}

void complain(const Failure& failure, const ProgramOptions& options) {
  std::fflush(stdout);
  fmt::print(stderr, "rankbox run: {}; {} explains\n", in_one_line(failure), options.again);
}

/// Called where a failed run ends its processes.
int report_failure(const RunFailure& ended, const ProgramOptions& options) {
  is_over() = true;
  end_rank_output();
  try {
    std::rethrow_exception(ended.error);
  } catch (const std::exception& error) {
    const Verdict verdict = failed_run(error, options);
    write_result(verdict, options, {});
    complain(*verdict.failure, options);
  }
  fmt::print(stderr, "{}", ended.details);
  return 1;
}

Verdict run_library(const std::string& library, const ProgramOptions& options, RunReport& report) {
  const LoadedFunction loaded = load_function(library, kRankMain);
  if (loaded.function == nullptr) {
    return failed_before_running(
        options.name,
        {.kind = FailureKind::kCompile, .file = options.name, .message = loaded.problem});
  }
  RunOptions how = run_options_of(options);
  how.trace = false;
  check_options(how);
  try {
    const auto rank_main = reinterpret_cast<void (*)(Comm&)>(loaded.function);
    begin_rank_output();
    run_world(how, rank_main, &report);
    end_rank_output();
  } catch (const std::exception& error) {
    end_rank_output();
    return failed_run(error, options);
  }
  Verdict verdict = undecided(options.name);
  verdict.status = Status::kPass;
  return verdict;
}

int run(const std::string& library, const ProgramOptions& options) {
  if (const std::string why = why_no_ranks(); !why.empty()) throw Error(why);
  const bool is_first = launch().is_first();
  limit_time(options, is_first);
  on_exit(on_exit_called, const_cast<ProgramOptions*>(&options));
  set_failure_handler(
      [&options](const RunFailure& failure) { return report_failure(failure, options); });

  RunReport report;
  const Verdict verdict = run_library(library, options, report);
  is_over() = true;
  if (!is_first) return verdict.passed() ? 0 : 1;
  write_result(verdict, options, report);
  if (verdict.failure) {
    complain(*verdict.failure, options);
    return 1;
  }
  if (options.prints_figures) {
    fmt::print("{} on {} rank{}: {} message{}, {} bytes (collectives not counted); took {:.3g} s\n",
               options.name, options.ranks, options.ranks == 1 ? "" : "s", report.messages,
               report.messages == 1 ? "" : "s", report.bytes, report.wall_seconds);
  }
  return 0;
}

int main(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // an endless loop does not detect that its launcher is gone
  CLI::App app("Runs a compiled program; ./rankbox run --help says how.");
  std::string library;
  std::string text;
  app.add_option("library", library)->required();
  app.add_option("--options", text)->required();
  CLI11_PARSE(app, argc, argv);
  static ProgramOptions options;  // for on_exit
  try {
    options = program_from_text(text);
    return run(library, options);
  } catch (const std::exception& error) {
    is_over() = true;
    write_result(failed_run(error, options), options, {});
    if (launch().is_first()) fmt::print(stderr, "rankbox run: {}\n", error.what());
    return dynamic_cast<const InvalidArgument*>(&error) == nullptr ? 1 : 2;
  }
}

}  // namespace
}  // namespace rankbox::cli

int main(int argc, char** argv) { return rankbox::cli::main(argc, argv); }
