// rankbox-compare: the course's topologies against the native collective, on whatever backend this is
// built for, in the conventions of nccl-tests.
//
// Where a launcher started several processes, all of them come here; only the first one prints and
// writes files. Every error ends up as one line on stderr: exit code 2 for a mistake of the user's, 1
// for a wrong result or anything else, 128 and its number for a signal.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/child.h"
#include "cli/compare/cluster_table.h"
#include "cli/compare/lists.h"
#include "cli/output_file.h"
#include "cli/perf/backend.h"
#include "cli/perf/baseline.h"
#include "cli/perf/options.h"
#include "cli/perf/output.h"
#include "cli/perf/report_json.h"
#include "cli/perf/session.h"
#include "comm/errors.h"
#include "comm/run_ranks.h"

namespace rankbox::perf {
namespace {

using Arguments = std::vector<std::string>;

/// Also where a launcher's variables make no sense, which is thrown elsewhere.
bool is_first_process() {
  try {
    return launch().is_first();
  } catch (const std::exception&) {
    return true;
  }
}

void print_once(const std::string& text) {
  if (is_first_process()) fmt::print("{}", text);
}

/// The command that was typed, without --processes and its number.
Arguments without_processes(const Arguments& arguments) {
  Arguments command;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--processes") {
      ++i;
    } else if (!arguments[i].starts_with("--processes=")) {
      command.push_back(arguments[i]);
    }
  }
  return command;
}

/// @param failures gets a line for each that could not be measured
std::vector<Row> measure_baselines(const Plan& plan, Progress& progress, Arguments& failures) {
  std::vector<Row> rows;
  for (const Baseline& baseline : plan.baselines) {
    progress.show(fmt::format("{}, in a process with {}={}", baseline.label, baseline.variable,
                              baseline.value));
    const BaselineRows measured = measure_baseline(plan, baseline);
    rows.insert(rows.end(), measured.rows.begin(), measured.rows.end());
    if (!measured.failure.empty()) {
      failures.push_back(fmt::format("{} was not measured: {}", baseline.label, measured.failure));
    }
  }
  return rows;
}

/// Whether it can be written, before minutes are spent on what it says.
void check_report(const Request& request) {
  if (!request.json.empty() && request.json != "-") cli::check_writable("-J", request.json);
}

void write_report(const Request& request, const Output& output, const Occasion& occasion,
                  const Totals& totals) {
  if (request.json.empty()) return;
  const std::string text = to_json(request.plan, output.devices(), output.rows(), totals, occasion);
  if (request.json == "-") {
    fmt::print("{}", text);
  } else {
    cli::write_file(request.json, text);
  }
}

/// What makes the exit code 1 although all was measured: a line for the first, or "".
std::string verdict(const Output& output, const Totals& totals, const Arguments& failures) {
  for (const Row& row : output.rows()) {
    if (row.wrong.value_or(0) > 0) {
      return fmt::format("{} ({}) on {} ranks, {}: {} elements of the result are wrong",
                         name_of(row.collective), row.algorithm, row.world_size,
                         cli::format_bytes(row.bytes), *row.wrong);
    }
  }
  if (!failures.empty()) return failures.front();
  if (!totals.is_fast_enough()) {
    return fmt::format("the average bus bandwidth is below 90% of NCCL_TESTS_MIN_BW={:g}",
                       totals.least_bus_bandwidth / 1e9);
  }
  return "";
}

/// Throws Error if anything is wrong, after all is printed and written.
void measure_all(Request request, const Arguments& arguments) {
  Plan& plan = request.plan;
  const bool is_first = launch().is_first();
  const bool prints = is_first && !request.is_baseline && request.json != "-";
  // Among several processes the mistake of one is told where all of them hear of it: below.
  if (launch().processes <= 1) check_report(request);
  const int world_size = world_size_of(plan);
  const std::vector<Job> jobs = jobs_of(plan, world_size);
  if (request.has_default_baselines) plan.baselines = default_baselines(world_size);
  Occasion occasion = {time_now(), "", arguments, relevant_environment()};

  Arguments failures;
  Progress progress(jobs.size());
  Output output(plan, measure_baselines(plan, progress, failures), prints);
  run_session(plan, jobs, world_size,
              {.on_start =
                   [&](const std::vector<Device>& devices) {
                     check_report(request);
                     progress.clear();
                     output.start(devices);
                   },
               .on_job = [&](std::size_t number, const Job& job) { progress.show(number, job); },
               .on_row =
                   [&](const Row& row) {
                     progress.clear();
                     output.add(row);
                   }});
  progress.clear();
  if (!is_first) return;

  output.finish();
  if (request.is_baseline) return report_to_parent(output.rows());
  occasion.end_time = time_now();
  const Totals totals = totals_of(output.rows(), std::getenv("NCCL_TESTS_MIN_BW"));
  write_report(request, output, occasion, totals);
  const std::string complaint = verdict(output, totals, failures);
  if (!complaint.empty()) throw Error(complaint);
}

int run(const Arguments& arguments) {
  prepare_process();
  const Request request = parse_options(arguments);
  switch (request.task) {
    case Request::Task::kShowHelp:
      print_once(request.help);
      return 0;
    case Request::Task::kShowBackend:
      print_once(backend_line() + "\n");
      return 0;
    case Request::Task::kListClusters:
      print_once(cli::format_clusters());
      return 0;
    case Request::Task::kMeasure:
      break;
  }
  if (request.processes > 0) return run_processes(request.processes, without_processes(arguments));
  // Alone, this process ends its ranks in good order. Several processes go at once, as they are told
  // to: one that waited for the others' end would only keep their launcher waiting.
  std::optional<cli::InterruptGuard> guard;
  if (launch().processes <= 1) guard.emplace();
  measure_all(request, arguments);
  return 0;
}

/// @param of_each every process has its own to say, not the first alone
int complain(const std::string& what, int exit_code, bool of_each = false) {
  std::fflush(stdout);
  std::string line = what;
  std::replace(line.begin(), line.end(), '\n', ' ');
  if (of_each || is_first_process()) {
    fmt::print(stderr, "rankbox-compare-{}: {}\n", backend_name(), line);
  }
  return exit_code;
}

}  // namespace
}  // namespace rankbox::perf

int main(int argc, char** argv) {
  using rankbox::perf::complain;
  try {
    const int status = rankbox::perf::run({argv, argv + argc});
    // A full disk or a closed pipe is a failure too.
    if (std::fflush(stdout) != 0) return complain("cannot write to standard output", 1);
    return status;
  } catch (const rankbox::cli::Interrupted& interrupted) {
    return complain("interrupted: no file was written", 128 + interrupted.signal());
  } catch (const rankbox::InvalidArgument& mistake) {
    return complain(mistake.what(), 2);
  } catch (const rankbox::perf::CannotStart& error) {
    return complain(error.what(), 1, /*of_each=*/true);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}
