// The two communicators of a rank, and nodes that make no grid.
#include "collectives/node_grid.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "comm/unrecorded.h"
#include "tests/support/text.h"

namespace rankbox {

namespace {

using Ints = std::vector<int>;

/// Returns the rank in its row, the row's size, and the same of its column.
Ints place_in(const NodeGrid& grid) {
  return {grid.node.rank(), grid.node.world_size(), grid.counterparts.rank(),
          grid.counterparts.world_size()};
}

}  // namespace

TEST_CASE("rows are nodes, columns are places in a node, in the order of the ranks") {
  for (const auto& [ranks, nodes] :
       {std::pair(1, 1), std::pair(4, 1), std::pair(4, 4), std::pair(6, 2), std::pair(8, 4)}) {
    CAPTURE(ranks);
    CAPTURE(nodes);
    const int row_size = ranks / nodes;
    const int nodes_here = nodes;
    const auto [right, report] =
        run_ranks({.world_size = ranks, .nodes = nodes}, [&](Comm& dist) -> int {
          return place_in(split_by_node(dist)) ==
                 Ints{dist.rank() % row_size, row_size, dist.rank() / row_size, nodes_here};
        });
    CHECK(right == Ints(static_cast<std::size_t>(ranks), 1));
  }
}

TEST_CASE("ranks of a part of the world are placed among those of that part") {
  const auto [places, report] = run_ranks({.world_size = 8, .nodes = 2}, [](Comm& dist) {
    Comm half = dist.split(dist.rank() % 2);  // 1, 3 | 5, 7, and the even ones
    return place_in(split_by_node(half));
  });
  CHECK(places[7] == Ints{1, 2, 1, 2});
  CHECK(places[2] == Ints{1, 2, 0, 2});
}

TEST_CASE("where nodes differ in size, every rank throws, with sizes and fix") {
  for (const auto& [ranks, nodes] : {std::pair(5, 2), std::pair(3, 2), std::pair(7, 3)}) {
    CAPTURE(ranks);
    const int world_size = ranks;
    const auto [messages, report] =
        run_ranks({.world_size = ranks, .nodes = nodes}, [](Comm& dist) -> std::string {
          try {
            split_by_node(dist);
          } catch (const UnevenNodes& error) {
            return error.what();
          }
          return "";
        });
    for (const std::string& message : messages) {
      CHECK(testing::lacks(message, {"node_grid_test.cc", std::to_string(world_size) + " ranks",
                                     "on every node"}) == "");
    }
  }
}

TEST_CASE("calls that are not recorded cost no time and leave no event") {
  const RunOptions options = {.world_size = 4, .nodes = 2, .snapshot_elements = 4};
  const auto run = [&](bool recorded) {
    return run_ranks(options, [&](Comm& dist) {
      NodeGrid grid = [&] {
        if (recorded) return split_by_node(dist);
        const Unrecorded unrecorded(dist);
        return split_by_node(dist);
      }();
      Tensor tensor = full(3, 1.0f);
      grid.node.all_reduce(tensor);
      grid.counterparts.all_reduce(tensor);
      return to_host(tensor)[0];
    });
  };
  const auto without = run(false);
  const auto with = run(true);
  CHECK(without.results == std::vector<float>(4, 4.0f));
  CHECK(with.results == without.results);
  // Three splits of 4 ranks, of two rounds each.
  CHECK(with.report.cost.steps == without.report.cost.steps + 6);
  for (const std::vector<Event>& events : without.report.trace.ranks) CHECK(events.size() == 2);
  for (const std::vector<Event>& events : with.report.trace.ranks) CHECK(events.size() == 5);
}

}  // namespace rankbox
