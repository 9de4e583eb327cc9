// Rules on which rank may send to which.
//
// A cost alone cannot tell algorithms apart: a chain of p-1 messages takes as many steps as p-1
// messages from one rank. The graph of the messages can. A rule allows every way to write its
// algorithm (a ring in the other direction, a tree split elsewhere), and no other algorithm.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "comm/trace.h"
#include "verdict/subject.h"

namespace rankbox {

/// What a rule depends on besides the two ends of a message.
struct Scene {
  const Case& example;
  // [node] The rank with the most messages to other nodes; of a single node, with the most messages.
  // The program chooses which rank leads.
  std::vector<int> leaders;
};

struct MessageGraph {
  const char* rule;  // in words, after "rank 0 sends to rank 2: "
  // Whether the algorithm has a message between these world ranks. Null: between any.
  bool (*links)(int from, int to, const Scene& scene) = nullptr;
  // How many messages one rank sends at most, and receives at most. Null: any number.
  int (*most)(const Case& example) = nullptr;
};

/// The first message, by sending rank, that the rule does not allow. Cost: O(p + number of messages).
std::optional<Failure> failure_of_graph(const MessageGraph& graph, const Trace& trace,
                                        const Case& example);

/// The same as a check. REQUIRES: the graph lives longer.
RunCheck graph_check(const MessageGraph& graph);

namespace graph {

/// No rule: values and cost say enough.
inline constexpr MessageGraph kAny = {.rule = ""};

bool leaves_root(int from, int to, const Scene& scene);
bool reaches_root(int from, int to, const Scene& scene);
bool touches_leader(int from, int to, const Scene& scene);
bool joins_neighbours(int from, int to, const Scene& scene);
bool joins_stages(int from, int to, const Scene& scene);
bool joins_partners(int from, int to, const Scene& scene);
bool is_power_of_two_apart(int from, int to, const Scene& scene);
bool joins_leaders_or_node(int from, int to, const Scene& scene);

int rounds_of_tree(const Case& example);
int rounds_of_tree_and_ring(const Case& example);
int rounds_of_butterfly(const Case& example);
int rounds_of_two_butterflies(const Case& example);
int others(const Case& example);

inline constexpr MessageGraph kFromRoot = {.rule = "all messages come from src itself",
                                           .links = leaves_root};
inline constexpr MessageGraph kToRoot = {.rule = "all messages go to dst itself",
                                         .links = reaches_root};
inline constexpr MessageGraph kStar = {
    .rule = "one rank, the same for all, is at one end of every message", .links = touches_leader};
inline constexpr MessageGraph kRing = {.rule = "on a ring only neighbours talk",
                                       .links = joins_neighbours};
inline constexpr MessageGraph kChain = {.rule = "a stage talks to the next one and the one before",
                                        .links = joins_stages};
inline constexpr MessageGraph kTree = {
    .rule = "in a tree no rank has more than ⌈log2 p⌉ others to talk to", .most = rounds_of_tree};
inline constexpr MessageGraph kTreeAndRing = {
    .rule = "a tree and a ring take at most ⌈log2 p⌉ + p-1 messages a rank",
    .most = rounds_of_tree_and_ring};
inline constexpr MessageGraph kButterfly = {
    .rule = "partners differ in one bit, and there is one a round",
    .links = joins_partners,
    .most = rounds_of_butterfly};
inline constexpr MessageGraph kTwoButterflies = {
    .rule = "partners differ in one bit, and meet once to halve and once to join",
    .links = joins_partners,
    .most = rounds_of_two_butterflies};
inline constexpr MessageGraph kDoublingDistances = {
    .rule = "distances between partners are 1, 2, 4, …, one a round",
    .links = is_power_of_two_apart,
    .most = rounds_of_tree};
inline constexpr MessageGraph kLeaders = {.rule = "between nodes only one rank of each talks",
                                          .links = joins_leaders_or_node};
inline constexpr MessageGraph kPairwise = {.rule = "every rank sends one message to every other",
                                           .most = others};

}  // namespace graph

struct NamedMessageGraph {
  const char* name;
  const MessageGraph* graph;
};

/// All rules, as exercises/registry.toml names them.
std::span<const NamedMessageGraph> message_graphs();
}  // namespace rankbox
