// Rules on which rank may send to which.
//
// A cost alone cannot tell algorithms apart: a chain of p-1 messages takes as many steps as p-1
// messages from one rank. The graph of the messages can. A rule allows every way to write its
// algorithm (a ring in the other direction, a tree split elsewhere), and no other algorithm.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "comm/trace.h"
#include "verdict/subject.h"

namespace rankbox {

/// What a rule depends on besides the two ends of a message.
struct Scene {
  const Case& example;
  // [node] The rank with the most messages to other nodes; of a single node, with the most
  // messages. The program chooses which rank leads.
  std::vector<int> leaders;
};

struct MessageGraph {
  const char* name;  // as exercises/registry.toml has it
  const char* rule;  // in words, after "rank 0 sends to rank 2: "
  // Whether the algorithm has a message between these world ranks. Null: between any.
  bool (*links)(int from, int to, const Scene& scene) = nullptr;
  // How many messages one rank sends at most, and receives at most. Null: any number.
  int (*most)(const Case& example) = nullptr;
};

/// The first message, by sending rank, that the rule does not allow. Cost: O(p + number of
/// messages).
std::optional<Failure> failure_of_graph(const MessageGraph& graph, const Trace& trace,
                                        const Case& example);

/// The same as a check. REQUIRES: the graph lives longer.
RunCheck graph_check(const MessageGraph& graph);

/// All rules. The first, "any", allows all messages.
std::span<const MessageGraph> message_graphs();

/// Returns null if there is none.
const MessageGraph* find_message_graph(std::string_view name);

}  // namespace rankbox
