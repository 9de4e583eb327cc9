#include "cli/compare/options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/compare/arguments.h"
#include "cli/support/lists.h"
#include "cli/support/named_file.h"
#include "cli/support/options.h"
#include "comm/errors.h"
#include "comm/option_checks.h"
#include "sim/clusters/clusters.h"

namespace rankbox::cli {
namespace {

constexpr const char* kDefaultSizes = "64:4M:16";

/// The names of nccl-tests and of Comm.
constexpr std::array kOps = {
    std::pair{"sum", ReduceOp::SUM},         std::pair{"prod", ReduceOp::PRODUCT},
    std::pair{"product", ReduceOp::PRODUCT}, std::pair{"max", ReduceOp::MAX},
    std::pair{"min", ReduceOp::MIN},         std::pair{"avg", ReduceOp::AVG}};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<ReduceOp> parse_ops(const std::string& text) {
  std::vector<ReduceOp> ops;
  const auto add = [&](ReduceOp op) {
    if (std::ranges::find(ops, op) == ops.end()) ops.push_back(op);
  };
  for (const std::string& name : split_at_commas(lower(text))) {
    const auto found = std::ranges::find_if(kOps, [&](const auto& op) { return name == op.first; });
    if (found == kOps.end() && name != "all") {
      throw InvalidArgument(
          fmt::format("unknown op \"{}\": choose from SUM, PRODUCT, MAX, MIN, AVG, or all", text));
    }
    for (const auto& [known, op] : kOps) {
      if (name == known || name == "all") add(op);
    }
  }
  if (ops.empty()) throw InvalidArgument("--op: choose from SUM, PRODUCT, MAX, MIN, AVG, or all");
  return ops;
}

/// Parses "native-ring:NCCL_ALGO=RING".
Baseline parse_baseline(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::size_t equals = text.find('=', colon == std::string::npos ? 0 : colon);
  if (colon == std::string::npos || equals == std::string::npos || colon == 0 ||
      equals == colon + 1) {
    throw InvalidArgument(fmt::format(
        "--baseline {}: write LABEL:VARIABLE=VALUE, like native-ring:NCCL_ALGO=RING, or none",
        text));
  }
  return {text.substr(0, colon), {text.substr(colon + 1)}};
}

std::vector<Baseline> parse_baselines(const std::vector<std::string>& texts) {
  if (texts == std::vector<std::string>{"none"}) return {};
  std::vector<Baseline> baselines;
  for (const std::string& text : texts) baselines.push_back(parse_baseline(text));
  return baselines;
}

std::vector<std::int64_t> sizes_in(const CompareArguments& typed) {
  if (typed.min_bytes.empty() && typed.max_bytes.empty()) {
    return parse_sizes(typed.sizes.empty() ? kDefaultSizes : typed.sizes);
  }
  if (!typed.sizes.empty()) {
    throw InvalidArgument("--sizes and -b, -e exclude each other: leave one out");
  }
  // A single bound means a single size.
  const std::string& least = typed.min_bytes.empty() ? typed.max_bytes : typed.min_bytes;
  const std::string& most = typed.max_bytes.empty() ? typed.min_bytes : typed.max_bytes;
  return sizes_of({parse_size("-b", least), parse_size("-e", most),
                   parse_size("-i", typed.step_bytes), typed.step_factor});
}

std::vector<int> ranks_in(const CompareArguments& typed, const std::vector<int>& default_ranks) {
  const bool by_product = typed.threads > 0 || typed.gpus > 0;
  if (by_product && !typed.ranks.empty()) {
    throw InvalidArgument("--ranks and -g, -t exclude each other: leave one out");
  }
  if (by_product) return {std::max(typed.threads, 1) * std::max(typed.gpus, 1)};
  return typed.ranks.empty() ? default_ranks : parse_ranks(typed.ranks);
}

/// Returns the name of any option: get_name() is empty for those that --help hides.
std::string name_of_option(const CLI::Option& option) {
  return option.get_lnames().empty() ? "-" + option.get_snames().front()
                                     : "--" + option.get_lnames().front();
}

void add_sweep(CLI::App& app, CompareArguments& typed) {
  app.add_option("--ranks", typed.ranks, "world sizes, like 2,4,8");
  app.add_option("--sizes", typed.sizes,
                 fmt::format("bytes: a list 1K,1M,4M or a sweep START:END:FACTOR (default: {})",
                             kDefaultSizes));
  app.add_option("-b,--minbytes", typed.min_bytes, "smallest size, as in nccl-tests");
  app.add_option("-e,--maxbytes", typed.max_bytes, "largest size");
  app.add_option("-i,--stepbytes", typed.step_bytes, "from size to size: add this (default: 1M)");
  app.add_option("-f,--stepfactor", typed.step_factor, "from size to size: multiply by this")
      ->check(whole_number(1, 1 << 30));
  app.add_option("-t,--nthreads", typed.threads, "as in nccl-tests: there are t x g ranks")
      ->check(whole_number(1, kLargestWorld));
  app.add_option("-g,--ngpus", typed.gpus, "likewise")->check(whole_number(1, kLargestWorld));
}

void add_measuring(CLI::App& app, CompareArguments& typed) {
  app.add_option("-n,--iters", typed.iterations,
                 "iterations of each row (default: what fits into 0.1 s)")
      ->check(whole_number(1, 1'000'000));
  app.add_option("-m,--agg_iters", typed.calls,
                 "calls of an iteration (default: as many as take 0.5 ms); native ones of NCCL are "
                 "then one group")
      ->check(whole_number(1, 10'000));
  app.add_option("-w,--warmup_iters,--warmup", typed.warmup, "calls before the first iteration")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  app.add_option("-c,--check", typed.checks, "how often to check each row's result; 0: never")
      ->check(whole_number(0, 1000))
      ->capture_default_str();
  app.add_option(
         "-a,--average", typed.average,
         "whose time counts: 0 rank 0's, 1 the mean over ranks, 2 the minimum, 3 the maximum")
      ->check(whole_number(0, 3))
      ->capture_default_str();
  app.add_option("-o,--op", typed.ops, "SUM, PRODUCT, MAX, MIN, AVG, several with commas, or all")
      ->capture_default_str();
  app.add_option("-d,--datatype", typed.datatype,
                 "float: the functions that are compared take float tensors")
      ->capture_default_str();
  app.add_option("-r,--root", typed.root, "source or destination")
      ->check(whole_number(0, 65535))
      ->capture_default_str();
  app.add_option("-T,--timeout,--deadline", typed.deadline_seconds,
                 "seconds that a call may take (default: 10 in the sandbox, 120 with --virtual, "
                 "else 30)")
      ->check(CLI::Range(0.001, 1e6));
}

void add_what(CLI::App& app, CompareArguments& typed) {
  app.add_option("--collective", typed.collectives,
                 "broadcast, reduce, all_reduce, gather, scatter, all_gather, all_to_all, "
                 "reduce_scatter, barrier, several with commas, or all")
      ->capture_default_str();
  app.add_option("--algorithms", typed.algorithms,
                 "only these and the native one, like ring,tree (default: all)");
  app.add_option("--segments", typed.segments,
                 "of ring_pipelined, ring_segmented and double_tree (default: best on the "
                 "cluster)")
      ->check(whole_number(1, 1 << 20));
  app.add_option(
      "--cluster", typed.cluster,
      "the machine whose virtual time is shown: a name, or a .toml file (default: laptop; "
      "one-gpu where ranks share a GPU)");
  app.add_flag("--list-clusters", typed.lists_clusters, "list the machines, and exit");
  app.add_flag("--virtual", typed.without_data,
               "in the sandbox: virtual time alone, of any size; tensors need no memory");
  app.add_option("--buffering", typed.buffering,
                 "in the sandbox: rendezvous, eager:BYTES or unbounded")
      ->capture_default_str();
  app.add_option("--executor", typed.executor, std::string("in the sandbox: ") + kExecutorHelp)
      ->capture_default_str();
  app.add_option(
         "--baseline", typed.baselines,
         "LABEL:VARIABLE=VALUE: measure the native collective again, in a separate process with "
         "that variable set; none: not even nccl's default, native-ring:NCCL_ALGO=RING")
      ->expected(1)
      ->take_all();
}

}  // namespace

void add_compare_options(CLI::App& app, CompareArguments& typed) {
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // as getopt does
  add_what(app, typed);
  add_sweep(app, typed);
  add_measuring(app, typed);
  app.add_option("-J,--json,--output_file", typed.json,
                 "write the figures to this file as JSON; - for stdout, without the table");
}

void add_program_options(CLI::App& app, CompareArguments& typed) {
  app.add_option(
         "--mine-library", typed.mine_libraries,
         "EXERCISE=FILE: your function, compiled for this backend by ./rankbox compare --bundle")
      ->expected(1)
      ->take_all();
  app.add_flag("--show-backend", typed.shows_backend, "print what this program measures, and exit");
  app.add_flag("--show-ranks", typed.shows_ranks, "print the default number of ranks, and exit");
  app.add_flag("--show-cluster", typed.shows_cluster, "print the default cluster, and exit");
  app.add_option("--stream", typed.stream)->group("");  // internal, like those below
  app.add_option("--first-contest", typed.first_contest)->group("");
  app.add_option("--mine", typed.mine)->group("")->expected(1)->take_all();
  app.add_flag("--judge-only", typed.judge_only)->group("");
  app.add_flag("--is-baseline", typed.is_baseline)->group("");
}

void group_compare_options(CLI::App& app) {
  group_options(app, {"collective", "algorithms", "ranks", "sizes", "op", "cluster",
                      "list-clusters", "virtual", "mine", "backend", "plot", "json"});
}

void check_virtual(const CLI::App& app, const CompareArguments& typed) {
  if (!typed.without_data) return;
  for (const char* option :
       {"--iters", "--agg_iters", "--warmup_iters", "--check", "--average", "--baseline"}) {
    if (app.count(option) == 0) continue;
    throw InvalidArgument(fmt::format(
        "{}: --virtual takes no times and moves no data; leave one of them out", option));
  }
}

bool has_ranks(const CompareArguments& typed) {
  return !typed.ranks.empty() || typed.gpus > 0 || typed.threads > 0;
}

void check_worlds(const Plan& plan) {
  for (const int ranks : plan.ranks)
    check_cluster_fits(plan.cluster, ranks, plan.cluster.nodes_for(ranks));
}

Plan plan_of(const CompareArguments& typed, const std::vector<int>& default_ranks) {
  if (typed.datatype != "float") {
    throw InvalidArgument(
        fmt::format("-d {}: only float, because the functions that are compared take float tensors",
                    typed.datatype));
  }
  Plan plan;
  plan.ranks = ranks_in(typed, default_ranks);
  plan.sizes = sizes_in(typed);
  plan.collectives = parse_collectives(typed.collectives);
  plan.algorithms = parse_algorithms(typed.algorithms, plan.collectives);
  plan.ops = parse_ops(typed.ops);
  plan.root = typed.root;
  if (typed.iterations > 0) plan.iterations = typed.iterations;
  if (typed.calls > 0) plan.calls = typed.calls;
  plan.warmup = typed.warmup;
  plan.checks = typed.checks;
  plan.average = static_cast<Average>(typed.average);
  plan.segments = typed.segments;
  plan.without_data = typed.without_data;
  plan.takes_times = !typed.judge_only && !typed.without_data;
  if (typed.deadline_seconds > 0) plan.deadline_seconds = typed.deadline_seconds;
  plan.cluster = typed.cluster.empty() ? cluster_presets().front() : cluster_named(typed.cluster);
  // Default worlds may be a guess, which the measuring program replaces.
  if (has_ranks(typed)) check_worlds(plan);
  plan.buffering = parse_buffering(typed.buffering);
  plan.executor = typed.executor;
  static_cast<void>(executor_named(plan.executor, 1));  // throws for another name
  plan.baselines = parse_baselines(typed.baselines);
  plan.has_reference = std::ranges::find(typed.mine, "only") == typed.mine.end();
  for (const std::string& mine : typed.mine_libraries) {
    plan.mine.push_back(named_file("--mine-library", mine,
                                   "write EXERCISE=FILE, like allreduce_ring=./allreduce_ring.so"));
  }
  return plan;
}

std::vector<std::string> typed_options(const CLI::App& app,
                                       const std::vector<std::string>& left_out) {
  std::vector<std::string> options;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = name_of_option(*option);
    if (option->count() == 0 || std::ranges::find(left_out, name) != left_out.end()) continue;
    for (const std::string& value : option->results()) {
      options.push_back(name);
      if (option->get_expected_min() > 0) options.push_back(value);
    }
  }
  return options;
}

}  // namespace rankbox::cli
