// The rules on which rank may send to which, on programs of a few lines.
#include "judge/message_graph.h"

#include <doctest/doctest.h>

#include "comm/comm.h"
#include "comm/run_ranks.h"
#include "tests/support/text.h"

namespace rankbox {

namespace {

/// Returns the graph's verdict on a run in which `from` sends to `to`, for every pair.
std::optional<Failure> verdict_on(const char* graph, const Case& example,
                                  const std::vector<std::pair<int, int>>& messages) {
  RunReport report;
  run_world(
      {.world_size = example.world_size},
      [&](Comm& dist) {
        Tensor tensor = zeros({1});
        for (const auto& [from, to] : messages) {
          if (dist.rank() == from) dist.send(tensor, to);
          if (dist.rank() == to) dist.recv(tensor, from);
        }
      },
      &report);
  return failure_of_graph(*find_message_graph(graph), report.trace, example);
}

struct Row {
  const char* why;
  const char* graph;
  Case example;
  int from;
  int to;
  bool allowed;
};

}  // namespace

TEST_CASE("a link is judged by the ranks at its ends, the root and the nodes") {
  const Case five = {.world_size = 5, .root = 3};
  const Case eight = {.world_size = 8, .root = 3};
  const Case two_nodes = {.world_size = 8, .nodes = 2};
  const Case seven_in_segments = {.world_size = 7, .segments = 2};
  const Case pipelines = {.world_size = 8, .replicas = 2};
  const std::vector<Row> links = {
      {"src sends", "from_root", five, 3, 1, true},
      {"others do not", "from_root", five, 1, 3, false},
      {"dst receives", "to_root", five, 1, 3, true},
      {"others do not", "to_root", five, 3, 1, false},
      {"to the next", "ring", five, 4, 0, true},
      {"to the one before", "ring", five, 0, 4, true},
      {"over a neighbour's head", "ring", five, 0, 2, false},
      {"to the next stage", "chain", five, 3, 4, true},
      {"from the last stage to the first", "chain", five, 4, 0, false},
      {"to the stage before, in the second pipeline", "chain", pipelines, 5, 4, true},
      {"from pipeline to pipeline", "chain", pipelines, 3, 4, false},
      {"one bit", "butterfly", eight, 1, 5, true},
      {"one bit, counted from the root", "butterfly", eight, 4, 3, true},
      {"two bits in either way", "butterfly", eight, 0, 6, false},
      {"distance 2 backwards", "doubling_distances", five, 1, 4, true},
      {"distance 3 is 2 the other way", "doubling_distances", five, 0, 3, true},
      {"distance 3", "doubling_distances", eight, 0, 3, false},
      {"to the parent in tree 0", "double_tree", seven_in_segments, 6, 2, true},
      {"to a child in tree 1", "double_tree", seven_in_segments, 3, 0, true},
      {"to the left sibling", "double_tree", seven_in_segments, 6, 5, false},
      {"to a neighbour in the node", "node_grid", two_nodes, 4, 7, true},
      {"to the other side of the node's ring", "node_grid", two_nodes, 1, 3, false},
      {"to the same place in another node", "node_grid", two_nodes, 5, 1, true},
      {"to another place in another node", "node_grid", two_nodes, 3, 4, false},
  };
  for (const Row& link : links) {
    INFO(link.graph, ": ", link.why);
    const auto failure = verdict_on(link.graph, link.example, {{link.from, link.to}});
    CHECK(failure.has_value() != link.allowed);
    if (!failure) continue;
    CHECK(failure->kind == FailureKind::kMessages);
    CHECK(failure->rank == link.from);
    CHECK(failure->peer == link.to);
    CHECK(failure->op == "send");
    CHECK(failure->line > 0);
    CHECK(failure->message.find(find_message_graph(link.graph)->rule) != std::string::npos);
  }
}

TEST_CASE("which rank is in the middle is free, but it is one") {
  const Case four = {.world_size = 4};
  CHECK_FALSE(verdict_on("star", four, {{1, 2}, {3, 2}, {2, 1}, {2, 3}}));
  const auto chain = verdict_on("star", four, {{0, 1}, {1, 2}, {2, 3}});
  REQUIRE(chain);
  CHECK(chain->rank == 2);
  CHECK(chain->peer == 3);
}

TEST_CASE("the first message too many is named, sent or received") {
  const Case four = {.world_size = 4, .root = 0};
  CHECK_FALSE(verdict_on("tree", four, {{0, 1}, {0, 2}, {1, 3}}));

  const auto star = verdict_on("tree", four, {{0, 1}, {0, 2}, {0, 3}});
  REQUIRE(star);
  CHECK(star->rank == 0);
  CHECK(star->peer == 3);
  CHECK(star->op == "send");
  CHECK(testing::lacks(star->message, {"rank 0", "3", "2"}) == "");

  const auto inward = verdict_on("tree", four, {{1, 0}, {2, 0}, {3, 0}});
  REQUIRE(inward);
  CHECK(inward->rank == 0);
  CHECK(inward->peer == 3);
  CHECK(inward->op == "recv");
}

TEST_CASE("in one direction of a tree a rank sends, or receives, once") {
  const Case four = {.world_size = 4, .root = 0};
  CHECK_FALSE(verdict_on("tree_to_root", four, {{1, 0}, {3, 2}, {2, 0}}));
  const auto twice = verdict_on("tree_to_root", four, {{1, 0}, {3, 2}, {2, 0}, {3, 1}});
  REQUIRE(twice);
  CHECK(twice->rank == 3);
  CHECK(twice->peer == 1);
  CHECK(twice->op == "send");
  CHECK_FALSE(verdict_on("tree_from_root", four, {{0, 2}, {0, 1}, {2, 3}}));
  const auto again = verdict_on("tree_from_root", four, {{0, 2}, {0, 1}, {2, 3}, {1, 3}});
  REQUIRE(again);
  CHECK(again->rank == 3);
  CHECK(again->op == "recv");
}

TEST_CASE("where nothing is asked of the messages, all is well") {
  CHECK_FALSE(verdict_on("any", {.world_size = 3}, {{0, 1}, {0, 1}, {1, 2}, {2, 0}}));
}

}  // namespace rankbox
