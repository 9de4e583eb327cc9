// The results of run_ranks: every rank's, of several types, in every process; also in worlds that
// are smaller than the launch, or invalid.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/backends/worlds.h"
#include "tests/support/run_tests.h"

namespace rankbox::testing {
namespace {

struct Point {
  int x = 0;
  std::string name;
};
[[maybe_unused]] auto fields_of(Point& point) { return std::tie(point.x, point.name); }

enum class Color : std::uint8_t { kRed, kGreen };

TEST_CASE("results come back by rank: numbers, strings, lists, structs, and lists of lists") {
  for (int p : world_sizes()) {
    const auto ranks = run_ranks(world(p), [](Comm& dist) { return dist.rank() * 10; });
    const auto doubles = run_ranks(world(p), [](Comm& dist) { return 0.5 * dist.rank(); });
    const auto flags = run_ranks(world(p), [](Comm& dist) { return dist.rank() % 2 == 0; });
    const auto words = run_ranks(world(p), [](Comm& dist) {
      return std::string(static_cast<std::size_t>(dist.rank()), 'x');
    });
    const auto lists = run_ranks(world(p), [](Comm& dist) {
      return std::vector<std::vector<float>>(static_cast<std::size_t>(dist.rank()),
                                             {1, static_cast<float>(dist.rank())});
    });
    const auto points = run_ranks(world(p), [](Comm& dist) {
      return Point{dist.rank(), "of a rank"};
    });
    const auto mixed = run_ranks(world(p), [](Comm& dist) {
      return std::tuple(dist.rank() == 0 ? Color::kRed : Color::kGreen, std::pair(1, 2.5),
                        dist.rank() == 0 ? std::optional<int>() : std::optional(dist.rank()));
    });
    const auto nothing = run_ranks(world(p), [](Comm& dist) { dist.barrier(); });
    CHECK(nothing.results.size() == static_cast<std::size_t>(p));
    CHECK(ranks.report.wall_seconds > 0);
    for (int rank = 0; rank < p; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      CHECK(ranks.results[at] == rank * 10);
      CHECK(doubles.results[at] == 0.5 * rank);
      CHECK(flags.results[at] == (rank % 2 == 0));
      CHECK(words.results[at] == std::string(at, 'x'));
      CHECK(lists.results[at] ==
            std::vector<std::vector<float>>(at, {1, static_cast<float>(rank)}));
      CHECK(points.results[at].x == rank);
      CHECK(points.results[at].name == "of a rank");
      CHECK(std::get<0>(mixed.results[at]) == (rank == 0 ? Color::kRed : Color::kGreen));
      CHECK(std::get<2>(mixed.results[at]) ==
            (rank == 0 ? std::optional<int>() : std::optional(rank)));
    }
  }
}

TEST_CASE("large results, and empty ones beside them") {
  for (int p : world_sizes()) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      return std::vector<std::int32_t>(dist.rank() % 2 == 0 ? 1'000'000 : 0, dist.rank());
    });
    for (int rank = 0; rank < p; ++rank) {
      const auto& result = run.results[static_cast<std::size_t>(rank)];
      REQUIRE(result.size() == (rank % 2 == 0 ? 1'000'000 : 0));
      if (!result.empty()) CHECK(result.back() == rank);
    }
  }
}

TEST_CASE("worlds of all sizes that were launched, one after the other and back again") {
  const int most = launch().processes == 0 ? 8 : launch().processes;
  for (int lap = 0; lap < 3; ++lap) {
    for (int i = 1; i <= most; ++i) {
      const int p = lap % 2 == 0 ? i : most + 1 - i;
      const auto run = run_ranks(world(p), [](Comm& dist) {
        Tensor sum = full(3, static_cast<float>(dist.rank() + 1));
        dist.all_reduce(sum);
        return std::pair(dist.world_size(), to_host(sum)[2]);
      });
      CHECK(run.results.size() == static_cast<std::size_t>(p));
      for (const auto& [size, sum] : run.results) {
        CHECK(size == p);
        CHECK(sum == static_cast<float>(p * (p + 1) / 2));
      }
    }
  }
}

TEST_CASE("what is counted: messages, bytes, and the most tensor bytes held at once") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      if (dist.rank() > 1) return;
      Tensor mine(1000);
      for (int i = 0; i < 10; ++i) const Tensor passing = zeros(500);
      dist.rank() == 0 ? dist.send(mine, 1) : dist.recv(mine, 0);
      if (dist.rank() == 0) dist.wait(dist.isend(chunk(mine, 0, 2), 1));
      if (dist.rank() == 1) dist.recv(chunk(mine, 0, 2), 0);
    });
    CHECK(run.report.messages == 2);
    CHECK(run.report.bytes == 4000 + 2000);
    REQUIRE(run.report.peak_bytes.size() == static_cast<std::size_t>(p));
    CHECK(run.report.peak_bytes[0] == 6000);
    CHECK(run.report.peak_bytes[1] == 6000);
  }
}

TEST_CASE("worlds that cannot be are refused before any rank starts") {
  struct Row {
    RunOptions options;
    std::vector<std::string> values;
  };
  const Cluster box = {.name = "box", .ranks_per_node = 2, .max_nodes = 1};
  const Cluster rack = {.name = "rack", .max_nodes = 2};
  const Row rows[] = {
      {{.world_size = 3, .cluster = box}, {"3 ranks", "box", "1 node of 2 ranks"}},
      {{.world_size = 2, .nodes = 2, .cluster = box}, {"2 nodes", "box", "1 node of 2 ranks"}},
      {{.world_size = 4, .nodes = 3, .cluster = rack}, {"3 nodes", "rack", "2 nodes"}},
      {{.world_size = 0}, {"0", "1"}},
      {{.world_size = -1}, {"-1"}},
      {{.world_size = std::numeric_limits<int>::min()}, {"-2147483648"}},
      {{.world_size = 4, .nodes = 0}, {"0", "1 to 4"}},
      {{.world_size = 4, .nodes = -3}, {"-3", "1 to 4"}},
      {{.world_size = 4, .nodes = 5}, {"5", "1 to 4"}},
      {{.world_size = 1, .deadline_seconds = 0}, {"0"}},
  };
  for (const Row& row : rows) {
    bool ran = false;
    std::string what;
    try {
      run_world(row.options, [&](Comm&) { ran = true; });
    } catch (const InvalidArgument& error) {
      what = error.what();
    }
    CHECK_FALSE(ran);
    INFO(what);
    for (const std::string& value : row.values) CHECK(contains(what, value));
    CHECK(what.find('\n') == std::string::npos);
    // Also for runs with results.
    CHECK_THROWS_AS(run_ranks(row.options, [](Comm& dist) { return dist.rank(); }),
                    InvalidArgument);
  }
}

TEST_CASE("more ranks than processes: says how many were started, and how to start more") {
  const int launched = launch().processes;
  if (launched == 0) return pass_over("ranks are threads");
  std::string what;
  try {
    run_ranks({.world_size = launched + 1}, [](Comm&) {});
  } catch (const InvalidArgument& error) {
    what = error.what();
  }
  INFO(what);
  for (const int value : {launched, launched + 1}) CHECK(contains(what, std::to_string(value)));
  CHECK(what.find('\n') == std::string::npos);
}

}  // namespace
}  // namespace rankbox::testing
