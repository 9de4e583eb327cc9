#include <cstdio>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/plugin/compile.h"
#include "cli/plugin/contained.h"
#include "cli/run/outcome.h"
#include "cli/support/child.h"
#include "cli/support/options.h"
#include "cli/support/paths.h"
#include "cli/support/terminal.h"
#include "files/fd.h"
#include "files/temporary_folder.h"

namespace rankbox::cli {

namespace {

bool are_fibers(const ProgramOptions& options) {
  return executor_named(options.executor, options.ranks) == ExecutorKind::kFibers;
}

}  // namespace

Outcome run_in_sandbox(const std::string& source, const ProgramOptions& options,
                       bool shows_output) {
  const TemporaryFolder folder;
  std::optional<StatusLine> status(std::in_place, "compiling " + options.name);
  const InterruptGuard guard([&status] {
    if (status) status->tick();
    return false;
  });

  Outcome outcome;
  const std::string library = folder.path("program.so");
  Compiled compiled = compile_program(display_path(source), library);
  outcome.compiler = std::move(compiled.output);
  if (compiled.failure) {
    outcome.verdict = verdict_of(options.name, compiled);
    return outcome;
  }

  status->set(fmt::format("{} runs on {} ranks", options.name, options.ranks));
  const auto show = [&status](std::string_view text) {
    status.reset();
    std::fflush(stdout);
    write_all(STDOUT_FILENO, text);  // a reader that is gone is a signal
    InterruptGuard::check();
  };
  Contained run = run_contained(
      {.words = {"run-library", library, "--options", to_text(options)},
       .name = options.name,
       .function = "rank_main",
       .library = library,
       .source = source,
       .temporary = folder.path(""),
       .seconds = options.seconds,
       .memory_mb = memory_mb_for(executor_named(options.executor, options.ranks), options.ranks),
       .file_bytes = kMostPictureBytes,
       .on_output = shows_output ? std::function<void(std::string_view)>(show) : nullptr});
  outcome.verdict = std::move(run.verdict);
  std::optional<Failure>& failure = outcome.verdict.failure;
  if (failure && failure->kind == FailureKind::kTimeout && are_fibers(options)) {
    failure->message +=
        " Ranks were fibers, which may wait for each other only in calls of dist; for a mutex, an "
        "atomic or a sleep use --executor threads.";
  }
  const bool says_so = failure && failure->message.find("--virtual") != std::string::npos;
  if (failure && failure->kind == FailureKind::kCrash && options.without_data && !says_so)
    failure->message += ". With --virtual tensors have no data to read or write";
  outcome.figures = std::move(run.result);
  outcome.output = std::move(run.output);
  return outcome;
}

}  // namespace rankbox::cli
