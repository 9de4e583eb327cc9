// Judges dropout_seeds: which seeds are equal, and that all others differ. Any seeds that do so are
// right.
#include "parallel/dropout_seeds.h"

#include <array>

#include <fmt/format.h>

#include "comm/comm.h"
#include "judge/salt.h"
#include "judge/subject.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&dropout_seeds);

/// The ranks of a run, and what they get.
struct Grid {
  Function function;
  std::uint64_t seed;
  int tensor_ranks;

  /// @param before what the caller's variable holds: to be overwritten
  DropoutSeeds of(int rank, DropoutSeeds before = {1, 2}) const {
    function(seed, rank, tensor_ranks, before);
    return before;
  }
  int replica(int rank) const { return rank / tensor_ranks; }
};

std::string named(const char* which, int rank) { return fmt::format("{} of rank {}", which, rank); }

std::optional<Difference> expect_equal(const std::string& what, std::uint64_t is,
                                       const std::string& other, std::uint64_t should_be,
                                       const Hint& hint) {
  if (is == should_be) return std::nullopt;
  return Difference{what, -1, fmt::format("{}, as {}", should_be, other), fmt::format("{}", is),
                    hint};
}

std::optional<Difference> expect_other(const std::string& what, std::uint64_t is,
                                       const std::string& other, std::uint64_t should_not_be,
                                       const Hint& hint) {
  if (is != should_not_be) return std::nullopt;
  return Difference{what, -1, fmt::format("another seed than {}", other),
                    fmt::format("{}, the same", is), hint};
}

/// Compares this rank's seeds with those of one rank, itself included.
std::optional<Difference> compare_ranks(const Grid& grid, int rank, int other) {
  const DropoutSeeds mine = grid.of(rank), theirs = grid.of(other);
  const bool is_copy = grid.replica(rank) == grid.replica(other);
  const std::string replicated = named("replicated", rank), sharded = named("sharded", rank);
  if (is_copy) {
    if (auto wrong =
            expect_equal(replicated, mine.replicated, named("replicated", other), theirs.replicated,
                         {"copies-drop-alike",
                          "both hold the same activations there: they must drop the same "
                          "elements, or their copies differ"})) {
      return wrong;
    }
  } else if (auto wrong = expect_other(
                 replicated, mine.replicated, named("replicated", other), theirs.replicated,
                 {"replicas-drop-independently",
                  "they are in different replicas, and have different samples"})) {
    return wrong;
  }
  if (rank != other) {
    if (auto wrong = expect_other(
            sharded, mine.sharded, named("sharded", other), theirs.sharded,
            is_copy ? Hint("parts-drop-independently",
                           "they hold different parts of one layer: with one seed all parts drop "
                           "the same places")
                    : Hint("parts-of-replicas-drop-independently",
                           "they are in different replicas, and have different samples: sharded "
                           "depends on the replica, too"))) {
      return wrong;
    }
  }
  return expect_other(replicated, mine.replicated, named("sharded", other), theirs.sharded,
                      {"generators-are-independent",
                       "the two generators must not share a seed, on whichever ranks: sums of a "
                       "seed and a rank do"});
}

/// Returns seeds of other runs: neighbours, and such that differ in one bit.
std::vector<std::uint64_t> seeds_of_other_runs(std::uint64_t seed) {
  std::vector<std::uint64_t> others;
  for (const std::uint64_t distance : {1, 2, 3, 8, 100, 1000, 2718}) {
    others.push_back(seed + distance);
    others.push_back(seed - distance);
  }
  for (int bit = 0; bit < 64; ++bit) others.push_back(seed ^ (std::uint64_t{1} << bit));
  return others;
}

std::optional<Difference> compare_runs(const Grid& grid, int rank, int world_size) {
  const DropoutSeeds mine = grid.of(rank);
  for (const std::uint64_t seed : seeds_of_other_runs(grid.seed)) {
    const Grid run = {grid.function, seed, grid.tensor_ranks};
    for (int other = 0; other < world_size; ++other) {
      const DropoutSeeds theirs = run.of(other);
      const std::string whose = fmt::format("that of rank {} with seed {}", other, seed);
      const Hint hint("runs-share-no-seed",
                      fmt::format("the run's seed is {} here: runs with other seeds are "
                                  "independent, and all 64 bits count",
                                  grid.seed));
      for (const std::uint64_t used : {theirs.replicated, theirs.sharded}) {
        if (auto wrong =
                expect_other(named("replicated", rank), mine.replicated, whose, used, hint))
          return wrong;
        if (auto wrong = expect_other(named("sharded", rank), mine.sharded, whose, used, hint))
          return wrong;
      }
    }
  }
  return std::nullopt;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int rank = dist.rank();
  const std::uint64_t seed =
      (std::uint64_t{1} << 62) +
      static_cast<std::uint64_t>(drawn("seed", (std::int64_t{3} << 40) + 5, 1, INT64_MAX / 2));
  const Grid grid = {function, seed, example.world_size / *example.replicas};

  // 1. The seeds depend on the arguments alone.
  const DropoutSeeds first = grid.of(rank), again = grid.of(rank, {~seed, seed});
  const Hint same("depends-on-arguments-alone",
                  "each call fills in both seeds, the same ones for the same arguments");
  if (auto wrong = expect_equal(named("replicated", rank), again.replicated, "before",
                                first.replicated, same))
    return wrong;
  if (auto wrong =
          expect_equal(named("sharded", rank), again.sharded, "before", first.sharded, same))
    return wrong;

  // 2. Equal and different seeds in this run.
  for (int other = 0; other < example.world_size; ++other) {
    if (auto wrong = compare_ranks(grid, rank, other)) return wrong;
  }

  // 3. The same replica, held by one rank.
  const Grid whole = {function, seed, 1};
  if (auto wrong = expect_equal(
          named("replicated", rank), first.replicated,
          fmt::format("with tensor_ranks = 1 on rank {}", grid.replica(rank)),
          whole.of(grid.replica(rank)).replicated,
          {"replicated-of-seed-and-replica",
           "where the model is whole it drops the same elements, however many ranks hold it"})) {
    return wrong;
  }

  // 4. Other runs.
  return compare_runs(grid, rank, example.world_size);
}

std::vector<Case> cases() {
  const auto drawn_parts = static_cast<int>(drawn("tensor ranks", 5, 3, 7));
  std::vector<Case> all;
  for (const auto& [replicas, parts] : std::vector<std::array<int, 2>>{{1, 1},
                                                                       {1, 2},
                                                                       {2, 1},
                                                                       {1, 3},
                                                                       {3, 1},
                                                                       {2, 2},
                                                                       {1, 4},
                                                                       {2, 3},
                                                                       {3, 2},
                                                                       {2, 4},
                                                                       {4, 2}}) {
    all.push_back({.world_size = replicas * parts, .replicas = replicas});
  }
  all.push_back({.world_size = 2 * drawn_parts, .replicas = 2});
  return all;
}

}  // namespace

Family family::dropout_seeds() {
  return make_family<Function>(
      "dropout_seeds", "(std::uint64_t seed, int rank, int tensor_ranks, DropoutSeeds& seeds)",
      {.cases = cases, .sends_messages = false}, run);
}

}  // namespace rankbox
