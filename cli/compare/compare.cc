#include "cli/compare/compare.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/compare/bundle.h"
#include "cli/compare/cluster_table.h"
#include "cli/compare/measure/session.h"
#include "cli/compare/options.h"
#include "cli/compare/plot.h"
#include "cli/compare/program.h"
#include "cli/compare/report/output.h"
#include "cli/compare/report/report_json.h"
#include "cli/compare/supervisor.h"
#include "cli/compare/yours.h"
#include "cli/plugin/verdict_report.h"
#include "cli/support/child.h"
#include "cli/support/lists.h"
#include "cli/support/machine_memory.h"
#include "cli/support/mpirun.h"
#include "cli/support/paths.h"
#include "cli/support/programs.h"
#include "cli/support/subcommands.h"
#include "comm/errors.h"
#include "files/output_file.h"
#include "files/temporary_folder.h"
#include "judge/faults.h"
#include "judge/stop_report.h"
#include "sim/clusters/clusters.h"

namespace rankbox::cli {
namespace {

using Words = std::vector<std::string>;

constexpr double kSecondsInSandbox = 10;
constexpr double kSecondsWithoutData = 120;  // worlds are larger, and no time is taken
// A learner's file runs in the sandbox before it runs on real machines. These limits keep worlds
// and tensors small enough for this machine.
constexpr std::int64_t kMostBytesToTry = std::int64_t{4} << 20;
constexpr int kMostRanksToTry = 64;

struct Options {
  CompareArguments typed;
  std::string backend = "sim";
  std::string plot;
  std::string bundle;
  const CLI::App* app = nullptr;
};

/// Throws if the tensors would not fit into memory. Call before measuring.
void check_memory_of_devices(const Plan& plan) {
  if (plan.without_data) return;
  // At most two tensors per rank, and as many again inside the algorithms.
  check_fits_memory(*std::ranges::max_element(plan.ranks),
                    4.0 * static_cast<double>(plan.sizes.back()), format_bytes(plan.sizes.back()),
                    "use fewer ranks or smaller sizes");
}

void check(const Options& options) {
  const std::string& backend = options.backend;
  check_backend(backend);
  if (options.typed.without_data && backend != "sim") {
    throw InvalidArgument(
        fmt::format("--virtual: the sandbox alone has it; leave out --backend {}", backend));
  }
  if (!options.bundle.empty() && backend == "sim") {
    throw InvalidArgument("--bundle: give the backend of the other machine, --backend mpi or nccl");
  }
  if (!options.bundle.empty() && (!options.typed.json.empty() || !options.plot.empty())) {
    throw InvalidArgument(
        "--bundle measures nothing here: give --json to run.sh, on the other machine");
  }
  if (!options.typed.json.empty() && options.typed.json != "-") {
    check_writable("--json", options.typed.json);
  }
}

/// Returns the default world sizes, unless the program reports others.
std::vector<int> default_ranks_of(const std::string& backend) {
  if (backend == "sim") return {2, 4, 8};
  return {std::max(2, static_cast<int>(std::thread::hardware_concurrency()))};
}

/// @param program rankbox-compare-BACKEND; the sandbox needs none
Words command_of(const std::string& backend, const std::string& program, int ranks,
                 const Words& options) {
  Words command = {program};
  if (backend == "sim") command = {"/proc/self/exe", kWorkerSubcommand};
  command.insert(command.end(), options.begin(), options.end());
  if (backend == "mpi") return mpirun_command(ranks, command);
  command.insert(command.end(), {"--ranks", std::to_string(ranks)});
  return command;
}

Workers workers_of(const std::string& backend, const std::string& program, Words options) {
  return {backend,
          [=](int ranks, const Words& words) { return command_of(backend, program, ranks, words); },
          std::move(options)};
}

/// Runs the learner's files once in the sandbox, and returns their costs and whether they are
/// right.
std::vector<Row> try_in_sandbox(const Options& options, const Plan& plan,
                                const std::vector<YourFile>& yours, const std::string& folder) {
  Plan trial = plan;
  std::erase_if(trial.ranks, [](int ranks) { return ranks > kMostRanksToTry; });
  std::erase_if(trial.sizes, [](std::int64_t bytes) { return bytes > kMostBytesToTry; });
  if (trial.sizes.empty()) trial.sizes = {kMostBytesToTry};
  trial.deadline_seconds = std::min(plan.deadline_seconds, kSecondsInSandbox);
  Words sizes;
  for (const std::int64_t bytes : trial.sizes) sizes.push_back(std::to_string(bytes));
  Words words =
      typed_options(*options.app, {"--json", "--plot", "--mine", "--backend", "--bundle", "--ranks",
                                   "--nthreads", "--ngpus", "--sizes", "--minbytes", "--maxbytes",
                                   "--stepbytes", "--stepfactor", "--baseline", "--timeout"});
  words.insert(words.end(), {"--mine", "only"});
  if (options.typed.cluster.empty()) words.insert(words.end(), {"--cluster", plan.cluster.name});
  words.insert(words.end(), {"--sizes", fmt::format("{}", fmt::join(sizes, ",")), "--judge-only"});
  const Compilations compiled = compile_yours(yours, "sim", folder);
  Output output(trial, false);
  Supervisor supervisor(trial, workers_of("sim", "", words), yours, compiled, output, folder);
  for (const int ranks : trial.ranks) supervisor.run_world(ranks);
  std::vector<Row> rows = output.rows();
  std::erase_if(rows, [](const Row& row) { return row.whose != Whose::kYours; });
  return rows;
}

void print_report(const Options& options, const Plan& plan, const Output& output,
                  const std::string& started) {
  const bool json_only = options.typed.json == "-";
  const nlohmann::ordered_json json =
      to_json(plan, output.rows(),
              {options.backend, started, typed_options(*options.app, {}), output.devices()});
  if (!options.typed.json.empty()) write_json(json, options.typed.json);
  if (!options.plot.empty()) {
    plot(json, options.plot);
    if (!json_only) fmt::print("wrote {}\n", options.plot);
  }
}

void print_what_it_printed(const std::string& printed) {
  constexpr std::size_t kMost = 2000;
  if (printed.find_first_not_of(" \n") == std::string::npos) return;
  fmt::print("printed by your code:\n{}{}\n", printed.substr(0, kMost),
             printed.size() > kMost ? "…" : "");
}

/// Returns the message for a learner's row that failed, with the command that explains it.
/// @param known the rows of the sandbox; null if `rows` are the sandbox's
std::string explained(const std::string& complaint, const std::vector<Row>& rows,
                      const std::vector<YourFile>& yours, const std::vector<Row>* known) {
  for (const Row& row : rows) {
    if (!row.failure) continue;
    for (const YourFile& each : yours) {
      if (each.collective != row.collective || each.algorithm != row.algorithm) continue;
      const bool passed_there =
          known != nullptr && std::ranges::any_of(*known, [&](const Row& trial) {
            return trial.algorithm == row.algorithm && trial.collective == row.collective &&
                   !trial.failure && trial.skipped.empty();
          });
      const std::string check =
          fmt::format("./rankbox check {} --file {}", each.exercise, display_path(each.file));
      return passed_there ? fmt::format("{}; it passed in the sandbox: see {}", complaint, check)
                          : fmt::format("{}; {} explains it", complaint, check);
    }
  }
  return complaint;
}

/// Returns the first line that a measuring program prints.
std::string line_of(const Words& command) {
  ChildOptions child;
  child.command = command;
  child.seconds = 60;
  const ChildResult result = run_child(child);
  if (result.status != 0) throw Error(fmt::format("{}: {}", command.front(), result.output));
  return result.output.substr(0, result.output.find('\n'));
}

/// Sets what the user left open as suits the GPUs: as many ranks, and the cluster.
void suit_gpus(Plan& plan, const CompareArguments& typed, const std::string& program) {
  if (!has_ranks(typed)) plan.ranks = parse_ranks(line_of({program, "--show-ranks"}));
  if (typed.cluster.empty()) {
    const std::string ranks = fmt::format("{}", fmt::join(plan.ranks, ","));
    plan.cluster = cluster_named(line_of({program, "--show-cluster", "--ranks", ranks}));
  }
  check_worlds(plan);
}

/// Measures the references and the learner's files, and prints one table.
void measure(const Options& options, Plan plan, const Words& forwarded) {
  // Before the guard: the script handles Ctrl-C itself.
  const std::string program = options.backend == "sim" ? ""
                                                       : backend_program("compare", options.backend,
                                                                         !options.bundle.empty());
  if (options.backend == "nccl" && options.bundle.empty()) suit_gpus(plan, options.typed, program);
  const TemporaryFolder temporary;
  const std::string folder = temporary.path(".");
  const InterruptGuard guard;
  const std::string started = time_now();
  const bool is_sim = options.backend == "sim";
  const std::vector<YourFile> yours = your_files(options.typed.mine, plan);
  Words words = forwarded;
  if (!plan.has_reference) words.insert(words.end(), {"--mine", "only"});
  if (options.bundle.empty() && options.typed.cluster.empty())
    words.insert(words.end(), {"--cluster", plan.cluster.name});
  std::vector<Row> known;
  if (!is_sim && !yours.empty()) {
    known = try_in_sandbox(options, plan, yours, folder);
  }
  const Compilations compiled = compile_yours(yours, options.backend, folder);

  if (!options.bundle.empty()) {
    Words for_others = words;
    if (options.backend == "nccl" && has_ranks(options.typed)) {
      for_others.insert(for_others.end(),
                        {"--ranks", fmt::format("{}", fmt::join(plan.ranks, ","))});
    }
    write_bundle({options.bundle, options.backend, program, for_others, compiled.libraries});
    fmt::print("wrote {}: copy it to the other machine, and start run.sh there\n", options.bundle);
    for (const Row& row : known) {
      if (row.failure) throw Error(explained(complaint_about(known), known, yours, nullptr));
    }
    if (!compiled.failures.empty()) {
      const auto& [exercise, failure] = *compiled.failures.begin();
      throw Error(fmt::format("{} is not in the bundle: {}", exercise, failure.message));
    }
    return;
  }

  Output output(plan, options.typed.json != "-");
  Supervisor supervisor(plan, workers_of(options.backend, program, words), yours, compiled, output,
                        folder);
  supervisor.set_known(known);
  for (const int ranks : plan.ranks) supervisor.run_world(ranks);
  output.finish();
  if (options.typed.json != "-") print_what_it_printed(supervisor.printed());
  print_report(options, plan, output, started);
  const std::string complaint = complaint_about(output.rows());
  if (!complaint.empty())
    throw Error(explained(complaint, output.rows(), yours, is_sim ? nullptr : &known));
  if (!supervisor.notes().empty()) throw Error(supervisor.notes().front());
}

void run(Options& options) {
  if (options.typed.lists_clusters) {
    fmt::print("{}", format_clusters());
    return;
  }
  check(options);
  check_virtual(*options.app, options.typed);
  if (options.typed.deadline_seconds == 0 && options.backend == "sim") {
    options.typed.deadline_seconds =
        options.typed.without_data ? kSecondsWithoutData : kSecondsInSandbox;
  }
  const Plan plan = plan_of(options.typed, default_ranks_of(options.backend));
  if (options.backend == "sim") {
    check_memory_of_devices(plan);
    check_largest_world(plan);
  }
  if (!options.plot.empty()) {
    if (plan.collectives == std::vector{CollectiveKind::kBarrier})
      throw InvalidArgument("--plot: a barrier has no sizes to plot its time against");
    check_plottable(options.plot);
  }
  // Options for the measuring processes: all but those that concern only this process.
  const Words forwarded =
      typed_options(*options.app, {"--json", "--plot", "--mine", "--backend", "--bundle", "--ranks",
                                   "--nthreads", "--ngpus", "--help"});
  measure(options, plan, forwarded);
}

}  // namespace

void compare_references(const Plan& plan) {
  Progress progress;
  Output output(plan, true);
  output.start({}, {});
  measure_worlds(plan, {.on_job = [&](const Contest& contest,
                                      std::size_t job) { progress.show(contest[job].row); },
                        .on_contest =
                            [&](const std::vector<Row>& rows) {
                              progress.clear();
                              output.add(rows);
                            }});
  output.finish();
  const std::string complaint = complaint_about(output.rows());
  if (!complaint.empty()) throw Error(complaint);
}

void add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "compare", "times topologies, including yours, against the native collective");
  const auto options = std::make_shared<Options>();
  options->app = command;
  add_compare_options(*command, options->typed);
  command
      ->add_option("--mine", options->typed.mine,
                   "EXERCISE=FILE: your function in that file; none: without yours; only: without "
                   "references (default: your file of every exercise that is no longer the stub)")
      ->expected(1)
      ->take_all();
  command
      ->add_option(
          "--backend", options->backend,
          "sim: ranks are threads or fibers; mpi: processes; nccl: GPUs. The first use builds a "
          "program, which takes a few minutes")
      ->capture_default_str();
  command->add_option("--bundle", options->bundle,
                      "instead of measuring here, make a folder whose run.sh measures on another "
                      "machine; needs --backend mpi or nccl");
  command->add_option("--plot", options->plot,
                      "draw time and bus bandwidth against size: a .svg, .png or .pdf file");
  group_compare_options(*command);
  command->footer(
      "Examples:\n"
      "  ./rankbox compare --collective broadcast --ranks 8 --sizes 1K:16M:16 --cluster h100-efa\n"
      "  ./rankbox compare --mine allreduce_ring=my_ring.cc --ranks 4 --sizes 1M\n"
      "  ./rankbox compare --backend mpi --ranks 4 -b 1K -e 16M -f 16\n"
      "  ./rankbox compare --backend nccl -b 8 -e 1G -f 2 --bundle to_the_gpus\n"
      "Your code runs in separate processes: a file that does not compile, hangs, crashes or is "
      "wrong\n"
      "gets one line, and the other rows go on. Options with one letter are nccl-tests'.\n"
      "Exits with 0 if all results are right, 1 if not, 2 for a mistake on this command line.");
  command->callback([options] { run(*options); });
}

void add_compare_worker(CLI::App& app) {
  CLI::App* worker = app.add_subcommand(kWorkerSubcommand, "measures (for internal use)");
  worker->group("");  // hidden
  worker->prefix_command();
  worker->set_help_flag();
  worker->callback([worker] {
    report_stops_to_parent();
    set_stop_hooks({set_library, use_signal_stack});
    Words arguments = {kWorkerSubcommand};
    const Words words = worker->remaining();
    arguments.insert(arguments.end(), words.begin(), words.end());
    const int status = run_compare_program(arguments);
    done_reporting();
    // Threads of the learner's code may still run, so no destructor may run.
    std::fflush(nullptr);
    _exit(status);
  });
}

}  // namespace rankbox::cli
