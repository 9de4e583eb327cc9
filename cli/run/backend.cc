#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "cli/plugin/compile.h"
#include "cli/run/outcome.h"
#include "cli/support/child.h"
#include "cli/support/mpirun.h"
#include "cli/support/paths.h"
#include "cli/support/programs.h"
#include "cli/support/terminal.h"
#include "files/temporary_folder.h"
#include "judge/verdict_json.h"

namespace rankbox::cli {
namespace {

constexpr double kSecondsToStart = 30;  // and to end, in addition to the program's limit

Compiled compile_for(const std::string& source, const std::string& library,
                     const std::string& backend, const ProgramOptions& options) {
  StatusLine status("compiling " + options.name);
  const InterruptGuard guard([&status] {
    status.tick();
    return false;
  });
  return compile_program(display_path(source), library, {.backend = backend, .optimize = true});
}

/// Returns the command that runs the library.
std::vector<std::string> command_for(const std::string& program, const std::string& library,
                                     const std::string& backend, const ProgramOptions& options) {
  std::vector<std::string> words = {program, library, "--options", to_text(options)};
  if (backend == "mpi") return mpirun_command(options.ranks, words);
  return words;
}

std::string ended_early(int code) {
  return fmt::format("a rank ended with exit code {} before rank_main returned", code);
}

/// Returns the failure of a run without a result: a rank died or was killed.
Failure failure_of_end(int status, const ProgramOptions& options) {
  Failure failure;
  failure.kind = FailureKind::kCrash;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kTimeoutStatus) {
    failure.kind = FailureKind::kTimeout;
    failure.message = fmt::format("still running after {:g} s", options.seconds);
  } else if (WIFSIGNALED(status) || WEXITSTATUS(status) > 128) {
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;
    failure.message = fmt::format("a rank died of signal {} ({})", signal, strsignal(signal));
  } else {
    failure.message = ended_early(WEXITSTATUS(status));
  }
  return failure;
}

}  // namespace

int run_on_backend(const std::string& source, const std::string& backend,
                   const ProgramOptions& options) {
  const std::string program = backend_program("run", backend);
  const TemporaryFolder folder;
  const std::string library = folder.path("program.so");
  const Compiled compiled = compile_for(source, library, backend, options);
  if (compiled.failure) {
    fmt::print(stderr, "{}rankbox run: {}\n", compiled.output, in_one_line(*compiled.failure));
    return 1;
  }
  ProgramOptions with_result = options;
  with_result.result = folder.path("result.json");
  with_result.prints_figures = true;
  const int code = run_attached(command_for(program, library, backend, with_result), options.again);
  // run_attached() reports signals, and the program its time limit.
  const bool is_told = code == 0 || code > 128 || code == kTimeoutStatus;
  if (!is_told && !std::filesystem::exists(with_result.result)) {
    fmt::print(stderr, "rankbox run: crash: {}; if that had begun, {} says where\n",
               ended_early(code), options.again);
  }
  return code;
}

Outcome run_on_backend_quietly(const std::string& source, const std::string& backend,
                               const ProgramOptions& options) {
  const std::string program = backend_program("run", backend);
  const TemporaryFolder folder;
  const std::string library = folder.path("program.so");
  Compiled compiled = compile_for(source, library, backend, options);
  Outcome outcome;
  if (compiled.failure) {
    outcome.verdict = verdict_of(options.name, compiled);
    outcome.compiler = std::move(compiled.output);
    return outcome;
  }

  ProgramOptions with_result = options;
  with_result.result = folder.path("result.json");
  ChildOptions child;
  child.command = command_for(program, library, backend, with_result);
  child.seconds = options.seconds + kSecondsToStart;
  child.grace_seconds = 5;                                      // for mpirun to end its ranks
  child.file_bytes = std::numeric_limits<std::int64_t>::max();  // shared memory counts as files
  const InterruptGuard guard;
  const ChildResult ended = run_child(child);
  outcome.output = ended.output;
  std::ifstream file(with_result.result);
  std::string verdict;
  if (std::getline(file, verdict) && std::getline(file, outcome.figures)) {
    outcome.verdict = verdict_from_json(verdict);
  } else {
    outcome.verdict = failed_before_running(options.name, failure_of_end(ended.status, options));
    outcome.verdict.failure->file = options.name;
  }
  return outcome;
}

}  // namespace rankbox::cli
