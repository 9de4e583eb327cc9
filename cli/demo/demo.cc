#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/compare/compare.h"
#include "cli/support/now.h"
#include "cli/support/subcommands.h"
#include "cli/support/terminal.h"
#include "collectives/allreduce_ring.h"
#include "comm/run_ranks.h"
#include "judge/catalog.h"
#include "judge/race/race_demo.h"
#include "judge/verdict_text.h"
#include "sim/clock/clock.h"
#include "sim/clusters/clusters.h"
#include "solutions/table.h"
#include "viewer/timeline.h"

namespace rankbox::cli {
namespace {

void print_heading(const std::string& text) {
  const bool colour = use_colour();
  fmt::print("\n{}== {} =={}\n\n", colour ? "\033[1m" : "", text, colour ? "\033[0m" : "");
  std::fflush(stdout);
}

/// Shows threads that share a value and lose updates.
bool show_race() {
  RaceOptions options;
  options.runs = 60;
  options.color = use_colour();
  options.width = terminal_width();
  options.fit = [](const std::string& line) { return fit(line); };
  return run_race_demo(options, stdout) == 0;
}

/// Grades every reference solution as `check` grades a learner's.
bool grade_solutions() {
  int passed = 0;
  int linked = 0;
  for (const Exercise& exercise : exercises()) {
    const AnyFunction solution = solution_of(exercise.name);
    if (solution == nullptr) {
      fmt::print("skip  {}: added after this program was built\n", exercise.name);
      continue;
    }
    ++linked;
    const double begin = now();
    JudgeOptions options;
    options.command = fmt::format("./rankbox check {} --solution", exercise.name);
    const Verdict verdict = judge_exercise(exercise, solution, options, solution);
    fmt::print("{}\n",
               fit(fmt::format("{}  {:<28} {:>6.2f} s  {}", verdict.passed() ? "pass" : "FAIL",
                               exercise.name, now() - begin, exercise.summary)));
    if (verdict.passed()) {
      ++passed;
    } else {
      fmt::print("{}", fit(to_text(verdict, use_colour())));
    }
    std::fflush(stdout);
  }
  fmt::print("\n{}\n",
             fit(fmt::format("{} of {} pass: values, messages, cost and safety.", passed, linked)));
  return passed == linked;
}

/// Compares four topologies of one collective, from small to large sizes.
bool compare_topologies() {
  Plan plan;
  plan.collectives = {CollectiveKind::kAllReduce};
  plan.algorithms = {"naive", "tree", "butterfly", "ring"};
  plan.ranks = {4};
  plan.sizes = {1024, 64 * 1024, 4 * 1024 * 1024};
  plan.cluster = cluster_presets().front();
  compare_references(plan);
  return true;
}

/// Draws one ring all-reduce.
bool draw_ring() {
  constexpr int kRanks = 4;
  constexpr std::int64_t kElements = 64 * 1024;
  const Cluster& cluster = cluster_presets().front();
  const auto [sums, report] = run_ranks({.world_size = kRanks, .cluster = cluster}, [](Comm& dist) {
    Tensor tensor = full({kElements}, static_cast<float>(dist.rank()));
    allreduce_ring(dist, tensor, ReduceOp::SUM);
    return to_host(tensor).back();
  });
  TimelineOptions options;
  options.columns = terminal_width();
  options.ascii = !has_utf8();
  fmt::print("{}\n",
             fit(fmt::format("allreduce_ring on {} ranks, {} float32, virtual time on \"{}\".",
                             kRanks, kElements, cluster.name)));
  fmt::print("{}\n\n",
             fit(fmt::format("{} sends to rank 1, {} receives from rank 3, [+] adds; a blank means "
                             "waiting.",
                             options.ascii ? "[>1]" : "[→1]", options.ascii ? "[<3]" : "[←3]")));
  fmt::print("{}", draw_timeline(report.trace, replay_trace(report.trace, cluster), options));
  fmt::print(
      "\n{}\n",
      fit(fmt::format("{:.0f} steps, {:.0f} bytes sent and {:.0f} bytes added one after the other.",
                      report.cost.steps, report.cost.bytes, report.cost.reduced)));

  constexpr float kSumOfRanks = kRanks * (kRanks - 1) / 2.0f;
  for (const float sum : sums) {
    if (sum != kSumOfRanks) {
      fmt::print("FAIL  the sum is {}, not {}\n", sum, kSumOfRanks);
      return false;
    }
  }
  return true;
}

void print_what_next() {
  fmt::print("{}",
             fit("Your turn:\n"
                 "  read   exercises/01_ranks_and_races/README.md\n"
                 "  edit   exercises/01_ranks_and_races/ping_pong.cc\n"
                 "  check  ./rankbox check ping_pong\n"
                 "\n"
                 "Then: ./rankbox (where you are), ./rankbox list, ./rankbox compare --help\n"));
}

struct Section {
  const char* heading;
  bool (*run)();
};

constexpr Section kSections[] = {
    {"1. A race: threads that share a value", show_race},
    {"2. Every exercise's solution, graded", grade_solutions},
    {"3. Four ways to all-reduce, compared", compare_topologies},
    {"4. What the ring does, over time", draw_ring},
};

/// Runs a section. One that throws has failed; the others still run.
bool run_section(const Section& section) {
  print_heading(section.heading);
  try {
    return section.run();
  } catch (const std::exception& error) {
    fmt::print("FAIL  {}\n", error.what());
    return false;
  }
}

void run_demo() {
  const double begin = now();
  std::vector<std::string> failed;
  for (const Section& section : kSections) {
    if (!run_section(section)) {
      failed.emplace_back(section.heading);
    }
  }
  print_heading("What next");
  print_what_next();
  fmt::print("\n{:.0f} s.\n", now() - begin);
  for (const std::string& heading : failed) {
    fmt::print("FAILED: {}\n", heading);
  }
  if (!failed.empty()) {
    throw CLI::RuntimeError(1);
  }
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "demo", "gives a tour: a race, graded solutions, a comparison, a timeline");
  command->footer(
      "Example:\n  ./rankbox demo\nTakes about half a minute. Exits with 1 if any part fails.");
  command->callback(&run_demo);
}

}  // namespace rankbox::cli
