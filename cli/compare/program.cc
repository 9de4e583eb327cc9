#include "cli/compare/program.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>

#include "cli/compare/cluster_table.h"
#include "cli/compare/measure/backend.h"
#include "cli/compare/measure/baseline.h"
#include "cli/compare/measure/session.h"
#include "cli/compare/options.h"
#include "cli/compare/plan/plan.h"
#include "cli/compare/report/output.h"
#include "cli/compare/report/report_json.h"
#include "cli/compare/stream.h"
#include "cli/support/child.h"
#include "cli/support/complain.h"
#include "cli/support/first_process.h"
#include "cli/support/options.h"
#include "comm/rank_failure.h"
#include "comm/run_failure.h"
#include "comm/run_ranks.h"
#include "files/output_file.h"
#include "sim/clusters/clusters.h"

namespace rankbox::cli {
namespace {

using Words = std::vector<std::string>;

void print_once(const std::string& text) {
  if (is_first_process()) fmt::print("{}", text);
}

/// Rejects an option of earlier versions, which started processes themselves.
void refuse_processes(const std::string& number) {
  const std::string name = backend_name();
  throw InvalidArgument(
      name == "sim" ? fmt::format("--processes: ranks are threads here, write -g {}", number)
                    : fmt::format("--processes: start them with mpirun --bind-to none -n {} "
                                  "rankbox-compare-{} and the other options, or torchrun or srun",
                                  number, name));
}

/// Throws if the report cannot be written. Call before measuring, which may take minutes.
void check_report(const CompareArguments& typed) {
  if (!typed.json.empty() && typed.json != "-") check_writable("--json", typed.json);
}

/// @param of_each every process reports, not only the first
int complain(std::string_view what, int exit_code, bool of_each = false) {
  if (!of_each && !is_first_process()) return exit_code;
  return cli::complain(fmt::format("rankbox-compare-{}", backend_name()), what, exit_code);
}

bool is_mistake(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const InvalidArgument&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// Called where a failed run ends its processes: this one reports for all.
int complain_of_end(const RunEnd& end) {
  const int exit_code = is_mistake(end.error) ? 2 : 1;
  const std::string what = end.failed_row ? fmt::format("{}: {}", describe(*end.failed_row),
                                                        in_words(*end.failed_row->failure))
                                          : what_of(end.error);
  complain(what, exit_code, /*of_each=*/true);
  if (end.failed_row) fmt::print(stderr, "{}", end.details);
  return exit_code;
}

/// Measures for the command line's process, and sends all results to it through a pipe.
void measure_for_parent(const Plan& plan, const CompareArguments& typed) {
  std::optional<FrameWriter> writer;
  if (launch().is_first()) writer.emplace(typed.stream);
  const Row* last_sent = nullptr;  // the first row of the contest last sent
  const auto fail = [&](const std::string& what, std::uint64_t exit_code) {
    if (writer) writer->write({.kind = Frame::Kind::kFailed, .number = exit_code, .text = what});
  };
  const Listener listener = {
      .on_start =
          [&](const std::vector<Device>& devices) {
            writer->write({.kind = Frame::Kind::kStart,
                           .lines = describe_backend(static_cast<int>(devices.size())),
                           .devices = devices});
          },
      .on_job =
          [&](const Contest& contest, std::size_t job) {
            if (!writer) return;
            Frame frame{.kind = Frame::Kind::kJob, .number = job};
            if (last_sent != &contest.front().row) {
              for (const Job& each : contest) frame.rows.push_back(each.row);
              last_sent = &contest.front().row;
            }
            writer->write(frame);
          },
      .on_left =
          [&] {
            if (writer) writer->write({.kind = Frame::Kind::kLeft});
          },
      .on_contest =
          [&](const std::vector<Row>& rows) {
            last_sent = nullptr;
            writer->write({.kind = Frame::Kind::kContest, .rows = rows});
          },
      .on_end = [&](const RunEnd& end) -> int {
        const int exit_code = is_mistake(end.error) ? 2 : 1;
        if (!writer) return print_failure({end.error, end.details});
        if (end.failed_row) {
          writer->write({.kind = Frame::Kind::kRowFailed, .rows = {*end.failed_row}});
        } else {
          fail(what_of(end.error), static_cast<std::uint64_t>(exit_code));
        }
        return exit_code;
      }};
  try {
    const Words failures = measure_worlds(plan, listener, typed.first_contest);
    if (!writer) return;
    for (const std::string& failure : failures) {
      writer->write({.kind = Frame::Kind::kNote, .text = failure});
    }
    writer->write({.kind = Frame::Kind::kDone});
  } catch (const InvalidArgument& mistake) {
    fail(mistake.what(), 2);
  } catch (const Error& error) {
    fail(error.what(), 1);
  }
}

/// Measures, prints, and writes the report. Then throws Error if a result is wrong.
void measure_and_print(const Plan& plan, const CompareArguments& typed, const Words& arguments) {
  const bool is_first = launch().is_first();
  // With several processes, on_start checks it: its errors reach all of them.
  if (launch().processes <= 1) check_report(typed);
  const std::string started = time_now();
  Progress progress;
  Output output(plan, is_first && !typed.is_baseline && typed.json != "-");
  const Words failures = measure_worlds(
      plan,
      {.on_start =
           [&](const std::vector<Device>& devices) {
             check_report(typed);
             output.start(describe_backend(static_cast<int>(devices.size())), devices);
           },
       .on_job = [&](const Contest& contest, std::size_t job) { progress.show(contest[job].row); },
       .on_contest =
           [&](const std::vector<Row>& rows) {
             progress.clear();
             output.add(rows);
           },
       .on_end =
           [&](const RunEnd& end) {
             progress.clear();
             return complain_of_end(end);
           }});
  progress.clear();
  if (!is_first) return;
  if (typed.is_baseline) return report_to_parent(output.rows());
  output.finish();
  if (!typed.json.empty()) {
    const Occasion occasion = {backend_name(), started, arguments, output.devices()};
    write_json(to_json(plan, output.rows(), occasion), typed.json);
  }
  const std::string complaint = complaint_about(output.rows());
  if (!complaint.empty()) throw Error(complaint);
  if (!failures.empty()) throw Error(failures.front());
}

std::string footer() {
  return fmt::format(
      R"(Examples:
  mpirun -n 8 rankbox-compare-mpi -b 8 -e 64M -f 8 --cluster a100-infiniband --json figures.json
  rankbox-compare-nccl -b 8 -e 1G -f 2 -g 8 --algorithms ring,tree
  torchrun --no-python --nnodes 2 --nproc-per-node 8 ... rankbox-compare-nccl -b 1M -e 1G -f 4
This is the program of the backend {}. Where a launcher (mpirun, torchrun, srun) starts processes,
each is one rank; else ranks are threads of this process. Exits with 0 if all results are right, 1
if not or if it fails, 2 for a mistake on this command line, 130 for Ctrl-C.)",
      backend_name());
}

int run(const Words& arguments) {
  prepare_process();
  CompareArguments typed;
  CLI::App app("Times topologies against the native collective.",
               fmt::format("rankbox-compare-{}", backend_name()));
  add_compare_options(app, typed);
  add_program_options(app, typed);
  app.add_option_function<std::string>("--processes", refuse_processes)->group("");
  group_compare_options(app);
  app.footer(footer());
  if (!parse_arguments(app, arguments, "--help")) return print_once(app.help()), 0;
  if (typed.shows_backend) return print_once(backend_line() + "\n"), 0;
  if (typed.shows_ranks) return print_once(fmt::format("{}\n", fmt::join(default_ranks(), ","))), 0;
  if (typed.lists_clusters) return print_once(format_clusters()), 0;

  if (typed.without_data && backend_name() != std::string("sim"))
    throw InvalidArgument("--virtual: the sandbox alone has it; leave it out here");
  Plan plan = plan_of(typed, default_ranks());
  if (typed.cluster.empty())
    plan.cluster = cluster_named(default_cluster(std::ranges::max(plan.ranks)));
  if (typed.shows_cluster) return print_once(plan.cluster.name + "\n"), 0;
  const int processes = launch().processes;
  // A launcher may give its processes a pseudo-terminal, regardless of where their output goes.
  if (processes > 0) setenv("NO_COLOR", "1", /*overwrite=*/0);
  if (processes > 0 && (!typed.ranks.empty() || typed.gpus > 0 || typed.threads > 0) &&
      plan.ranks != std::vector{processes}) {
    throw InvalidArgument(
        fmt::format("--ranks {}: a launcher has started {} processes, which are one rank each; "
                    "leave --ranks out, and set the number of processes in the launcher",
                    plan.ranks.front(), processes));
  }
  if (typed.baselines.empty() && !typed.is_baseline) {
    plan.baselines = default_baselines(plan.ranks.front());
  }
  if (!plan.baselines.empty() && !can_run_itself()) {
    throw InvalidArgument(
        fmt::format("--baseline: {} processes cannot run themselves again; set {} in a separate "
                    "run, and compare the two",
                    backend_name(), plan.baselines.front().environment.front()));
  }
  Words again =
      typed_options(app, {"--algorithms", "--baseline", "--ranks", "--ngpus", "--nthreads",
                          "--json", "--mine", "--mine-library", "--stream", "--first-contest"});
  // Adds the subcommand if this process is one of the command line's.
  if (arguments.front() == kWorkerSubcommand) again.insert(again.begin(), kWorkerSubcommand);
  set_baseline_arguments(again);
  // A single process stops its ranks in order. Under a launcher, each process exits at once on a
  // signal: waiting for the others would only delay the launcher.
  std::optional<InterruptGuard> guard;
  if (processes <= 1) guard.emplace();
  if (typed.stream.empty()) {
    measure_and_print(plan, typed, arguments);
  } else {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    measure_for_parent(plan, typed);
  }
  return 0;
}

}  // namespace

int run_compare_program(const std::vector<std::string>& arguments) {
  try {
    const int status = run(arguments);
    finish_output();
    return status;
  } catch (const Interrupted& interrupted) {
    return complain("interrupted: no file was written", 128 + interrupted.signal());
  } catch (const InvalidArgument& mistake) {
    return complain(mistake.what(), 2);
  } catch (const CannotStart& error) {
    return complain(error.what(), 1, /*of_each=*/true);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}

}  // namespace rankbox::cli
