#include "cli/compare/compare.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/buffering.h"
#include "cli/compare/cluster_table.h"
#include "cli/compare/lists.h"
#include "cli/compare/names.h"
#include "cli/compare/plot.h"
#include "cli/compare/report.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "cli/whole_number.h"
#include "clusters/clusters.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

/// The command line, as typed.
struct Arguments {
  std::string collective = "all_reduce";
  std::string algorithms;
  std::string ranks = "2,4,8";
  std::string sizes = "64:4M:16";
  std::string op = "SUM";
  std::string cluster;
  std::string buffering = "rendezvous";
  std::string executor = "threads";
  std::string backend = "sim";
  std::string json;
  std::string plot;
  int iterations = 0;
  int warmup = 3;
  bool list_clusters = false;
};

ReduceOp parse_op(const std::string& text) {
  std::string upper = text;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (const auto op = find_reduce_op(upper)) return *op;
  throw InvalidArgument(
      fmt::format("unknown op \"{}\": choose one of SUM, PRODUCT, MAX, MIN, AVG", text));
}

ExecutorKind parse_executor(const std::string& text) {
  for (const ExecutorKind kind : {ExecutorKind::kThreads, ExecutorKind::kFibers}) {
    if (text == name_of(kind)) return kind;
  }
  throw InvalidArgument(fmt::format("unknown executor \"{}\": choose threads or fibers", text));
}

/// Refuses what would not fit, before anything is measured.
void check_memory(const Plan& plan) {
  const auto physical =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  const int ranks = *std::max_element(plan.ranks.begin(), plan.ranks.end());
  // Two tensors per rank at most, and as many again inside of the algorithms.
  const double needed = 4.0 * ranks * static_cast<double>(plan.sizes.back());
  if (needed > physical) {
    throw InvalidArgument(fmt::format(
        "{} ranks with {} each need about {} of memory; this machine has {}: fewer or smaller",
        ranks, format_bytes(plan.sizes.back()), format_bytes(static_cast<std::int64_t>(needed)),
        format_bytes(static_cast<std::int64_t>(physical))));
  }
}

Plan parse(const Arguments& arguments) {
  Plan plan;
  plan.collectives = parse_collectives(arguments.collective);
  plan.algorithms = parse_algorithms(arguments.algorithms, plan.collectives);
  plan.ranks = parse_ranks(arguments.ranks);
  plan.sizes = parse_sizes(arguments.sizes);
  plan.op = parse_op(arguments.op);
  plan.cluster =
      arguments.cluster.empty() ? cluster_presets().front() : cluster_named(arguments.cluster);
  plan.buffering = parse_buffering(arguments.buffering);
  plan.executor = parse_executor(arguments.executor);
  if (arguments.iterations > 0) {
    plan.iterations = arguments.iterations;
  }
  plan.warmup = arguments.warmup;
  check_memory(plan);
  return plan;
}

void run(const Arguments& arguments) {
  if (arguments.backend != "sim") {
    throw InvalidArgument(
        fmt::format("--backend {}: this program is the sandbox's; ./rankbox compare --backend mpi "
                    "or nccl builds and runs the one of that backend",
                    arguments.backend));
  }
  if (arguments.list_clusters) {
    fmt::print("{}", format_clusters());
    return;
  }
  const Plan plan = parse(arguments);
  const bool json_only = arguments.json == "-";
  if (!arguments.json.empty() && !json_only) {
    check_writable("--json", arguments.json);
  }
  if (!arguments.plot.empty()) {
    if (plan.collectives == std::vector{CollectiveKind::kBarrier})
      throw InvalidArgument("--plot: a barrier has no sizes to plot its time against");
    check_plottable(arguments.plot);
  }
  const std::vector<Row> rows = compare(plan, json_only);
  const nlohmann::ordered_json json = to_json(plan, rows);
  if (!arguments.json.empty()) {
    const std::string text = json.dump(2) + "\n";
    if (json_only) {
      fmt::print("{}", text);
    } else {
      write_file(arguments.json, text);
    }
  }
  if (!arguments.plot.empty()) {
    plot(json, arguments.plot);
    if (!json_only) fmt::print("wrote {}\n", arguments.plot);
  }
  require_all_right(rows);
}

}  // namespace

std::vector<Row> compare(const Plan& plan, bool quiet) {
  check_world_can_start(plan);
  const bool show_progress = isatty(STDERR_FILENO) == 1;
  const bool colour = use_colour();
  std::size_t total = 0;
  for (const int world_size : plan.ranks) {
    total += count_rows(plan, world_size);
  }

  if (!quiet) {
    fmt::print("{}", legend(plan));
  }
  std::vector<Row> all;
  for (const int world_size : plan.ranks) {
    const std::vector<Row> rows =
        measure_world(plan, world_size, [&](std::size_t row, const Row& now) {
          if (show_progress) {
            fmt::print(stderr, "\r\033[K{}/{}  {} {}, {} ranks, {}", all.size() + row + 1, total,
                       name_of(now.collective), now.algorithm, now.world_size,
                       format_bytes(now.bytes));
            std::fflush(stderr);
          }
        });
    if (show_progress) {
      fmt::print(stderr, "\r\033[K");
    }
    if (!quiet) {
      fmt::print("{}", format_table(plan, rows, colour));
      std::fflush(stdout);
    }
    all.insert(all.end(), rows.begin(), rows.end());
  }
  if (!quiet) {
    const std::string winners = format_winners(plan, all);
    if (!winners.empty()) {
      fmt::print("\n{}A lead that may be noise (middle halves that overlap) does not count.\n",
                 winners);
    }
  }
  return all;
}

void require_all_right(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    if (row.wrong > 0) {
      throw Error(fmt::format("{} ({}) on {} ranks, {}: {} elements of the result are wrong",
                              name_of(row.collective), row.algorithm, row.world_size,
                              format_bytes(row.bytes), row.wrong));
    }
  }
}

void add_compare(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("compare", "times topologies against the native collective");
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option(
          "--collective", arguments->collective,
          "broadcast, reduce, all_reduce, gather, scatter, all_gather, all_to_all, reduce_scatter, "
          "barrier or all")
      ->capture_default_str();
  command->add_option("--algorithms", arguments->algorithms,
                      "only these, like ring,tree (default: all)");
  command->add_option("--ranks", arguments->ranks, "world sizes")->capture_default_str();
  command
      ->add_option("--sizes", arguments->sizes,
                   "bytes: a list 1K,1M,4M or a sweep START:END:FACTOR")
      ->capture_default_str();
  command->add_option("--op", arguments->op, "SUM, PRODUCT, MAX, MIN or AVG")
      ->capture_default_str();
  command->add_option(
      "--cluster", arguments->cluster,
      "the machine whose virtual time is shown: a name, or a .toml file (default: laptop)");
  command->add_flag("--list-clusters", arguments->list_clusters, "show the machines, and stop");
  command
      ->add_option("--iters", arguments->iterations,
                   "iterations per row (default: what fits into 0.1 s)")
      ->check(whole_number(1, 1'000'000));
  command->add_option("--warmup", arguments->warmup, "calls before the first iteration")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--buffering", arguments->buffering, "rendezvous, eager:BYTES or unbounded")
      ->capture_default_str();
  command
      ->add_option("--executor", arguments->executor,
                   "ranks as threads, or as fibers: quicker where they share cores")
      ->capture_default_str();
  command
      ->add_option("--backend", arguments->backend,
                   "sim: ranks are threads. mpi, nccl: builds a program with nccl-tests' options "
                   "and runs it; ./rankbox compare --backend mpi --help shows them")
      ->capture_default_str();
  command->add_option("--json", arguments->json,
                      "write the figures there; - for stdout, without the table");
  command->add_option("--plot", arguments->plot,
                      "draw time and bus bandwidth against size: a .svg, .png or .pdf file");
  command->footer(
      "Example:\n"
      "  ./rankbox compare --collective broadcast --ranks 8 --sizes 1K:16M:16 --cluster h100-efa\n"
      "Exits with 0 if all results are right, 1 if not, 2 for a mistake on this command line.");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace rankbox::cli
