// Every mistake of the matrix is found with its class and its line, and no correct twin is refused.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/run_ranks.h"
#include "tests/bug_matrix/finding.h"
#include "tests/bug_matrix/matrix.h"
#include "tests/support/run_tests.h"
#include "tests/support/thrown.h"

namespace rankbox::testing {
namespace {

constexpr double kLeastAccuracy = 0.98;
constexpr const char* kPage = "docs/bug_matrix.md";

// The wrong programs of the MPI Bugs Initiative that can be written with Comm, by class: 429.
const std::map<std::string, int> kLeast = {{"call mismatch", 308},
                                           {"datatype mismatch", 22},
                                           {"null communicator", 20},
                                           {"communicator mismatch", 20},
                                           {"bad root", 16},
                                           {"root mismatch", 8},
                                           {"buffer in flight", 10},
                                           {"missing wait", 9},
                                           {"bad peer", 8},
                                           {"operator mismatch", 4},
                                           {"deadlock", 4}};

struct Outcome {
  Finding finding;
  int noise = 0;
};

/// The score of a class.
struct Score {
  int found = 0;    // wrong programs, with the right class and line in every run
  int missed = 0;   // the others
  int passed = 0;   // correct twins
  int refused = 0;  // the others
  int noise = 0;    // further findings, in the first run of each wrong program

  int all() const { return found + missed + passed + refused; }
  double accuracy() const { return static_cast<double>(found + passed) / all(); }
  void add(const Score& other) {
    found += other.found;
    missed += other.missed;
    passed += other.passed;
    refused += other.refused;
    noise += other.noise;
  }
};

template <std::size_t N>
bool has(const Numbers<N>& numbers, int number) {
  return number != 0 && std::ranges::find(numbers, number) != numbers.end();
}

/// Other classes that ranks throw, and other lines that the text names.
int noise_of(const Row& row, const Finding& finding, const std::vector<std::exception_ptr>& ranks) {
  std::set<std::string> others;
  for (const std::exception_ptr& rank : ranks) {
    if (rank == nullptr || error_as<Aborted>(rank)) continue;
    const std::string kind = finding_of(rank).kind;
    if (kind != finding.kind) others.insert(kind);
  }
  const auto is_noise = [&](int line) {
    return !has(row.at_of_two, line) && !has(row.named, line) && !has(row.others, line);
  };
  return static_cast<int>(others.size()) +
         static_cast<int>(std::ranges::count_if(finding.named, is_noise));
}

Outcome run(const Row& row, RunOptions options) {
  std::vector<std::exception_ptr> ranks(static_cast<std::size_t>(options.world_size));
  std::exception_ptr thrown;
  options.watch_buffers = true;
  try {
    run_world(options, [&](Comm& dist) {
      try {
        row.program(dist);
      } catch (...) {
        ranks[static_cast<std::size_t>(dist.rank())] = std::current_exception();
        throw;
      }
    });
  } catch (...) {
    thrown = std::current_exception();
  }
  const Finding finding = finding_of(thrown);
  return {finding, noise_of(row, finding, ranks)};
}

/// Returns what is wrong with the finding; "" if it is the right one.
std::string problem_of(const Row& row, int world_size, const Finding& finding) {
  if (!row.wrong) return finding.kind.empty() ? "" : "refused";
  if (finding.kind.empty()) return "not found";
  if (finding.kind != row.kind) return "wrong class";
  if (!has(world_size == 2 ? row.at_of_two : row.at, finding.line)) return "wrong line";
  for (const int line : row.named)
    if (line != 0 && !finding.named.contains(line)) return fmt::format("line {} not named", line);
  return "";
}

/// The runs that all have to find the same. The judge runs with and without buffers, and with
/// random delays. The first has one order of ranks, so that its noise can be counted.
std::vector<RunOptions> runs_of(const Row& row, int world_size) {
  std::vector<RunOptions> runs = {
      {.world_size = world_size, .executor = ExecutorKind::kFibers, .fiber_threads = 1}};
  for (const ExecutorKind executor : {ExecutorKind::kThreads, ExecutorKind::kFibers}) {
    for (const std::uint64_t seed : {0, 1, 2})
      runs.push_back({.world_size = world_size, .executor = executor, .seed = seed});
  }
  if (!row.wrong) runs.push_back({.world_size = world_size, .buffering = Buffering::unbounded()});
  return runs;
}

/// Runs a program in all ways, and adds it to the score.
void judge(const Row& row, int world_size, Score& score) {
  std::string problem;
  bool first = true;
  for (const RunOptions& options : runs_of(row, world_size)) {
    const Outcome seen = run(row, options);
    if (std::exchange(first, false)) score.noise += row.wrong ? seen.noise : 0;
    problem = problem_of(row, world_size, seen.finding);
    if (problem.empty()) continue;
    std::printf("%s: %s, %s, %d ranks, %s, seed %d: %s at line %d: %s\n", problem.c_str(), row.kind,
                row.name, world_size, name_of(options.executor), static_cast<int>(options.seed),
                seen.finding.kind.c_str(), seen.finding.line, seen.finding.text.c_str());
    break;
  }
  if (row.wrong) {
    ++(problem.empty() ? score.found : score.missed);
  } else {
    ++(problem.empty() ? score.passed : score.refused);
  }
}

std::string line_of(const std::string& name, const Score& score) {
  return fmt::format("| {} | {} | {} | {} | {} | {:.3f} | {} |\n", name, score.found, score.passed,
                     score.refused, score.missed, score.accuracy(), score.noise);
}

TEST_CASE("mistakes are found with class and line, and correct programs pass") {
  std::map<std::string, Score> scores;
  std::map<std::string, std::set<std::string>> operations;
  std::map<std::string, int> wrong_programs;  // each once, however many worlds it runs in
  int right_programs = 0;
  for (const Row& row : rows()) {
    ++(row.wrong ? wrong_programs[row.kind] : right_programs);
    for (const int world_size : row.worlds) {
      if (world_size == 0) continue;
      judge(row, world_size, scores[row.kind]);
      operations[row.kind].insert(row.operation);
    }
  }
  Score total;
  std::string table;
  for (const auto& [kind, score] : scores) {
    table += line_of(kind, score);
    total.add(score);
  }
  table += line_of("all", total);
  std::printf("%s", table.c_str());
  CHECK(total.refused == 0);
  CHECK(total.accuracy() >= kLeastAccuracy);
  CHECK(right_programs >= 319);
  for (const auto& [kind, least] : kLeast) {
    CAPTURE(kind);
    CHECK(wrong_programs[kind] >= least);
  }

  std::ifstream file(kPage);
  std::stringstream page;
  page << file.rdbuf();
  for (std::stringstream lines(table); std::getline(lines, table);) {
    INFO("missing in " << kPage << ": " << table);
    CHECK(contains(page.str(), table));
  }
}

TEST_CASE("what buffers hide is not found with unbounded ones, and without them it is") {
  for (const Row& row : rows()) {
    if (!row.wrong || !row.hidden) continue;
    for (const int world_size : row.worlds) {
      if (world_size == 0) continue;
      CAPTURE(row.name);
      CAPTURE(world_size);
      const Outcome seen =
          run(row, {.world_size = world_size, .buffering = Buffering::unbounded()});
      CHECK(seen.finding.text == "");
    }
  }
}

}  // namespace
}  // namespace rankbox::testing
