#include "cli/perf/options.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/compare/lists.h"
#include "cli/compare/names.h"
#include "cli/perf/backend.h"
#include "cli/perf/sizes.h"
#include "cli/whole_number.h"
#include "clusters/clusters.h"
#include "comm/errors.h"

namespace rankbox::perf {
namespace {

/// As typed.
struct Arguments {
  std::string min_bytes = "32M";
  std::string max_bytes = "32M";
  std::string step_bytes = "1M";
  std::string ops = "sum";
  std::string datatype = "float";
  std::string collectives = "all_reduce";
  std::string algorithms;
  std::string cluster;
  std::vector<std::string> baselines;
  int average = 1;
  bool shows_backend = false;
  bool lists_clusters = false;
};

constexpr std::array kOps = {std::pair{"sum", ReduceOp::SUM}, std::pair{"prod", ReduceOp::PRODUCT},
                             std::pair{"max", ReduceOp::MAX}, std::pair{"min", ReduceOp::MIN},
                             std::pair{"avg", ReduceOp::AVG}};

std::vector<ReduceOp> parse_ops(const std::string& text) {
  std::vector<ReduceOp> ops;
  for (const std::string& name : cli::split_at_commas(text)) {
    const auto found =
        std::find_if(kOps.begin(), kOps.end(), [&](const auto& op) { return name == op.first; });
    if (found == kOps.end() && name != "all") {
      throw InvalidArgument(
          fmt::format("-o {}: choose from sum, prod, max, min, avg, or all", text));
    }
    for (const auto& [known, op] : kOps) {
      if ((name == known || name == "all") && std::find(ops.begin(), ops.end(), op) == ops.end()) {
        ops.push_back(op);
      }
    }
  }
  if (ops.empty()) throw InvalidArgument("-o: choose from sum, prod, max, min, avg, or all");
  return ops;
}

std::vector<Baseline> parse_baselines(const std::vector<std::string>& texts) {
  std::vector<Baseline> baselines;
  for (const std::string& text : texts) {
    if (text == "none" && texts.size() == 1) return {};
    baselines.push_back(parse_baseline(text));
  }
  if (!baselines.empty() && !can_run_itself()) {
    throw InvalidArgument(
        fmt::format("--baseline: {} processes cannot run themselves again; set {} for a run of its "
                    "own, and compare the two",
                    backend_name(), baselines.front().variable));
  }
  return baselines;
}

std::string footer() {
  return fmt::format(
      R"(Examples:
  rankbox-compare-sim -b 8 -e 1M -f 4 -g 4 --collective all_reduce
  mpirun -n 8 rankbox-compare-mpi -b 8 -e 64M -f 8 --cluster a100-infiniband -J figures.json
  rankbox-compare-nccl -b 8 -e 1G -f 2 -g 8 --algorithms ring,tree
  torchrun --no-python --nnodes 2 --nproc-per-node 8 ... rankbox-compare-nccl -b 1M -e 1G -f 4
This is the one of the backend {}. Sizes are bytes, or with K, M, G powers of 1024; what is dealt in
pieces is rounded down to equal ones. Where a launcher (mpirun, torchrun, srun) starts processes, each
is one rank; else this process starts nthreads x ngpus ranks.
Output: nccl-tests' columns. A function either overwrites its tensor (broadcast, reduce, all_reduce)
or has another for the result: it is measured in place or out of place, and the other half is N/A.
To the right: latency of a call alone, time divided by the native collective's, and the time on the
cluster. Exits with 0 if all results are right, 1 if not or if it fails, 2 for a mistake on this
command line, 130 for Ctrl-C. Options of nccl-tests that are not listed here are not known.)",
      backend_name());
}

void add_sweep(CLI::App& app, Arguments& typed, Plan& plan) {
  app.add_option("-b,--minbytes", typed.min_bytes, "smallest size")->capture_default_str();
  app.add_option("-e,--maxbytes", typed.max_bytes, "largest size")->capture_default_str();
  app.add_option("-i,--stepbytes", typed.step_bytes, "from size to size: add this")
      ->capture_default_str();
  app.add_option("-f,--stepfactor", plan.step_factor, "from size to size: multiply by this")
      ->check(cli::whole_number(1, 1 << 30));
  app.add_option("-t,--nthreads", plan.threads, "threads of this process, as nccl-tests count")
      ->check(cli::whole_number(1, 65536))
      ->capture_default_str();
  app.add_option("-g,--ngpus", plan.gpus_per_thread, "ranks per thread")
      ->check(cli::whole_number(1, 65536))
      ->capture_default_str();
}

void add_measuring(CLI::App& app, Arguments& typed, Plan& plan) {
  app.add_option("-n,--iters", plan.iterations, "iterations of each row")
      ->check(cli::whole_number(1, 1'000'000))
      ->capture_default_str();
  app.add_option("-m,--agg_iters", plan.aggregated, "calls of an iteration")
      ->check(cli::whole_number(1, 10'000))
      ->capture_default_str();
  app.add_option("-w,--warmup_iters", plan.warmup, "calls before, for every size")
      ->check(cli::whole_number(0, 1'000'000))
      ->capture_default_str();
  app.add_option("-c,--check", plan.checks, "how often to check each row's result; 0: never")
      ->check(cli::whole_number(0, 1000))
      ->capture_default_str();
  app.add_option("-a,--average", typed.average,
                 "whose time is shown: 0 rank 0's, 1 the mean over ranks, 2 the least, 3 the most")
      ->check(cli::whole_number(0, 3))
      ->capture_default_str();
  app.add_option("-o,--op", typed.ops, "sum, prod, max, min, avg or all")->capture_default_str();
  app.add_option("-d,--datatype", typed.datatype,
                 "float, and no other: the functions that are compared take float tensors")
      ->capture_default_str();
  app.add_option("-r,--root", plan.root, "source or destination")
      ->check(cli::whole_number(0, 65535))
      ->capture_default_str();
  app.add_option("-T,--timeout,--deadline", plan.deadline_seconds,
                 "seconds that a rank may wait for the others")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
}

void add_ours(CLI::App& app, Arguments& typed, Request& request) {
  app.add_option("-J,--output_file,--json", request.json,
                 "write the figures there as JSON; - for stdout, without the table");
  app.add_option("--collective", typed.collectives,
                 "broadcast, reduce, all_reduce, gather, scatter, all_gather, all_to_all, "
                 "reduce_scatter, barrier, several with commas, or all")
      ->capture_default_str();
  app.add_option("--algorithms", typed.algorithms,
                 "only these and the native one, like ring,tree (default: all)");
  app.add_option("--segments", request.plan.segments,
                 "of the pipelined ring (default: best on the cluster)")
      ->check(cli::whole_number(1, 1 << 20));
  app.add_option("--cluster", typed.cluster,
                 "the machine whose virtual time is shown: a name, or a .toml file (default: "
                 "laptop)");
  app.add_flag("--list-clusters", typed.lists_clusters, "show the machines, and stop");
  app.add_flag("--backend", typed.shows_backend, "say what this program measures, and stop");
  app.add_option("--baseline", typed.baselines,
                 "LABEL:VARIABLE=VALUE: the native collective once more, in a process of its own "
                 "with that variable set; none: not even native-ring:NCCL_ALGO=RING, which nccl "
                 "has by default")
      ->expected(1)
      ->take_all();
  app.add_option("--processes", request.processes,
                 "start so many processes of one rank each on this machine (nccl)")
      ->check(cli::whole_number(1, 65536));
  app.add_flag("--is-baseline", request.is_baseline)->group("");  // not for people
}

void complete(Request& request, const Arguments& typed) {
  Plan& plan = request.plan;
  if (typed.datatype != "float") {
    throw InvalidArgument(
        fmt::format("-d {}: only float, because the functions that are compared take float tensors",
                    typed.datatype));
  }
  plan.min_bytes = parse_size("-b", typed.min_bytes);
  plan.max_bytes = parse_size("-e", typed.max_bytes);
  plan.step_bytes = parse_size("-i", typed.step_bytes);
  sizes_of(plan);  // which complains
  plan.ops = parse_ops(typed.ops);
  plan.average = static_cast<Average>(typed.average);
  plan.collectives = cli::parse_collectives(typed.collectives);
  plan.algorithms = cli::parse_algorithms(typed.algorithms, plan.collectives);
  plan.cluster = typed.cluster.empty() ? cluster_presets().front() : cluster_named(typed.cluster);
  plan.baselines = parse_baselines(typed.baselines);
  request.has_default_baselines = typed.baselines.empty() && !request.is_baseline;
}

}  // namespace

Request parse_options(const std::vector<std::string>& arguments) {
  Request request;
  Arguments typed;
  CLI::App app("Times the course's topologies against the native collective.",
               fmt::format("rankbox-compare-{}", backend_name()));
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // as getopt does
  add_sweep(app, typed, request.plan);
  add_measuring(app, typed, request.plan);
  add_ours(app, typed, request);
  app.footer(footer());
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as parse() wants them
  reversed.pop_back();
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    request.task = Request::Task::kShowHelp;
    request.help = app.help();
    return request;
  } catch (const CLI::ConversionError& error) {
    throw InvalidArgument(fmt::format("{}, expected a number (see --help)", error.what()));
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(fmt::format("{} (see --help)", error.what()));
  }
  if (typed.shows_backend) request.task = Request::Task::kShowBackend;
  if (typed.lists_clusters) request.task = Request::Task::kListClusters;
  if (request.task == Request::Task::kMeasure) complete(request, typed);
  return request;
}

std::vector<std::string> options_for_baseline(const Plan& plan) {
  std::string collectives;
  for (const CollectiveKind collective : plan.collectives) {
    collectives += std::string(collectives.empty() ? "" : ",") + name_of(collective);
  }
  std::string ops;
  for (const auto& [name, op] : kOps) {
    if (std::find(plan.ops.begin(), plan.ops.end(), op) != plan.ops.end()) {
      ops += std::string(ops.empty() ? "" : ",") + name;
    }
  }
  std::vector<std::string> options = {"--is-baseline", "--algorithms", "native"};
  const auto add = [&](const char* option, const auto& value) {
    options.emplace_back(option);
    options.push_back(fmt::format("{}", value));
  };
  add("-b", plan.min_bytes);
  add("-e", plan.max_bytes);
  if (plan.step_factor > 0) {
    add("-f", plan.step_factor);
  } else {
    add("-i", plan.step_bytes);
  }
  add("-t", plan.threads);
  add("-g", plan.gpus_per_thread);
  add("-n", plan.iterations);
  add("-m", plan.aggregated);
  add("-w", plan.warmup);
  add("-c", plan.checks);
  add("-a", static_cast<int>(plan.average));
  add("-o", ops);
  add("-r", plan.root);
  add("-T", plan.deadline_seconds);
  add("--collective", collectives);
  return options;
}

Baseline parse_baseline(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::size_t equals = text.find('=', colon == std::string::npos ? 0 : colon);
  if (colon == std::string::npos || equals == std::string::npos || colon == 0 ||
      equals == colon + 1) {
    throw InvalidArgument(fmt::format(
        "--baseline {}: write LABEL:VARIABLE=VALUE, like native-ring:NCCL_ALGO=RING, or none",
        text));
  }
  return {text.substr(0, colon), text.substr(colon + 1, equals - colon - 1),
          text.substr(equals + 1)};
}

}  // namespace rankbox::perf
