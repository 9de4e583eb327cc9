#include "cli/train/program.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/support/complain.h"
#include "cli/support/first_process.h"
#include "cli/support/terminal.h"
#include "cli/train/backend.h"
#include "cli/train/mine.h"
#include "cli/train/mine_faults.h"
#include "cli/train/options.h"
#include "cli/train/report.h"
#include "cli/train/step_log.h"
#include "comm/errors.h"
#include "comm/run_failure.h"
#include "comm/run_ranks.h"
#include "judge/faults.h"
#include "training/run/session.h"
#include "training/run/stop_signal.h"

namespace rankbox::train {
namespace {

constexpr const char* kNotice = "\nstopping after this step; press Ctrl-C again to stop at once\n";

/// One process may lack data that others have. The error must reach all of them, so it is thrown at
/// their rendezvous.
Task make_task(const Plan& plan) {
  std::exception_ptr failure;
  Task task;
  try {
    task = model_kind(plan.model).make(plan);
  } catch (...) {
    if (launch().processes <= 1) throw;
    failure = std::current_exception();
  }
  if (launch().processes > 1) {
    run_ranks({.world_size = plan.ranks, .trace = false}, [&](Comm&) {
      if (failure != nullptr) std::rethrow_exception(failure);
    });
  }
  return task;
}

/// @param log may be null
/// @param is_quiet the report prints nothing
Listener listener_for(Record& record, Report& report, StepLog* log, bool is_quiet) {
  return {.on_rank = use_signal_stack,
          .on_start =
              [&, log, is_quiet](const Position& from, const std::vector<std::string>& notes) {
                record.start(from, notes);
                report.on_start();
                if (log) log->start(from);
                if (is_quiet) {
                  for (const std::string& note : notes)
                    fmt::print(stderr, "rankbox train: --resume: {}\n", note);
                }
              },
          .on_step =
              [&, log](const Position& now, std::int64_t steps, const StepMetrics& batch) {
                // Also where nothing is printed before the end.
                if (cli::output_is_closed()) std::raise(SIGPIPE);
                record.add_step(now, batch);
                report.on_step(now, steps, batch);
                if (log) log->on_step(now, steps, batch);
              },
          .on_evaluation =
              [&, log](const Position& now, const Evaluation& test, bool is_best) {
                report.on_evaluation(now, test, is_best);
                if (log) log->on_evaluation(now, test, is_best);
                record.go_on();
              },
          .on_epoch =
              [&](const Position& now, const Evaluation& test) {
                report.on_epoch(record.add_epoch(now, test));
                record.go_on();
              },
          .on_save = [&](const Position&) { record.go_on(); }};
}

void show_timeline(const Plan& plan, const Task& task, const Screen& screen) {
  const std::string picture = draw_step(
      plan, task,
      {.columns = std::min(screen.columns, 120), .ascii = screen.ascii, .colour = screen.live});
  const std::string heading = fmt::format(
      "one step over virtual time, on {}; compute is what this machine took", plan.cluster.name);
  fmt::print("\n{}\n{}", cli::fit(heading), picture);
}

int train(const Request& request) {
  const Plan& plan = request.plan;
  const Task task = make_task(plan);
  const Screen screen = this_screen();
  Record record(plan);
  const bool is_quiet = request.quiet || request.json;
  Report report(plan, task, record, screen, is_quiet);
  const bool is_first = launch().is_first();
  std::optional<StepLog> log;
  if (!request.log.empty()) log.emplace(request.log, plan, record);

  int signal = 0;
  Outcome outcome;
  {
    const StopSignal stop(is_first ? kNotice : "");
    outcome =
        run_session(plan, task, listener_for(record, report, log ? &*log : nullptr, is_quiet));
    signal = StopSignal::received();
  }
  if (is_first) {
    if (request.json) {
      fmt::print("{}", to_json(plan, task, record, outcome));
    } else {
      report.finish(outcome, signal);
    }
  }
  // SIGUSR1 stands for Ctrl-C at mpirun. The number of another rank's signal is unknown.
  if (!outcome.is_complete) return 128 + (signal == 0 || signal == SIGUSR1 ? SIGINT : signal);
  if (request.timeline && is_first) show_timeline(plan, task, screen);
  return 0;
}

/// @param prints this process reports for all
int complain(std::string_view what, int exit_code, bool prints = cli::is_first_process()) {
  return prints ? cli::complain("rankbox train", what, exit_code) : exit_code;
}

/// Returns "zero1 (yours, exercises/09_sharding/zero1.cc:14): …" if a learner's function threw the
/// error; else its text.
std::string blamed(const Error& error) {
  // Errors of several ranks: the first of them need not be in a learner's function.
  const bool is_shared = dynamic_cast<const DeadlockError*>(&error) != nullptr ||
                         dynamic_cast<const CollectiveMismatch*>(&error) != nullptr ||
                         dynamic_cast<const MessageMismatch*>(&error) != nullptr;
  ThrowPlace thrown = last_throw_of(error.rank());
  if (thrown.name.empty() && is_shared) thrown = last_throw_of(kAnyRank);
  if (!thrown.name.empty()) {
    // Rankbox's own errors include the place in their text.
    const bool has_place = !error.file().empty() || thrown.place.empty();
    return fmt::format("{} (yours{}): {}; {} explains it", thrown.name,
                       has_place ? "" : ", " + thrown.place, error.what(), thrown.check);
  }
  // A learner's function may have left wrong tensors, and under MPI another process may know more.
  if (const std::vector<std::string> yours = functions_of_yours(); has_begun() && !yours.empty()) {
    return fmt::format("{}; yours in this run: {}; ./rankbox check {} may explain it", error.what(),
                       fmt::join(yours, ", "), yours.front());
  }
  return error.what();
}

int complain_of(const std::exception& error, bool prints) {
  const auto* const known = dynamic_cast<const Error*>(&error);
  if (known == nullptr) return complain(error.what(), 1, prints);
  const bool is_mistake = dynamic_cast<const InvalidArgument*>(known) != nullptr && !has_begun();
  return complain(blamed(*known), is_mistake ? 2 : 1, prints);
}

/// Called where a failed run ends its processes.
int complain_of_end(const RunFailure& failure) {
  int exit_code = 1;
  try {
    std::rethrow_exception(failure.error);
  } catch (const std::exception& error) {
    exit_code = complain_of(error, /*prints=*/true);
  }
  if (exit_code != 2) fmt::print(stderr, "{}", failure.details);
  return exit_code;
}

int run(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  const std::vector<NamedFile> libraries = take_libraries(words);
  preload(libraries, arguments);
  Request request = parse_options(words);
  for (const NamedFile& library : libraries) request.plan.yours.push_back(library.name);
  if (request.shows_exercises) {
    fmt::print("{}\n", fmt::join(exercises_of(request.plan), "\n"));
    return 0;
  }
  if (!request.shows_help) return train(request);
  if (cli::is_first_process()) fmt::print("{}", cli::fit(request.help));
  return 0;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
  set_failure_handler(complain_of_end);
  try {
    const int status = run(arguments);
    cli::finish_output();
    return status;
  } catch (const std::exception& error) {
    return complain_of(error, cli::is_first_process());
  }
}

}  // namespace rankbox::train
