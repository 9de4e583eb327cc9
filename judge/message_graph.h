// Rules on which rank may send to which.
//
// The cost alone does not identify an algorithm: a chain of p-1 messages takes as many steps as p-1
// messages from one rank. The graph of messages does. A rule allows every variant of its algorithm
// (a ring in the other direction, a tree split elsewhere), and no other algorithm.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "comm/trace.h"
#include "judge/subject.h"

namespace rankbox {

/// The context of a rule besides the two ends of a message.
struct Scene {
  const Case& example;
  int centre;  // the rank with the most messages: the program chooses which rank of a star it is
};

struct MessageGraph {
  const char* name;  // as in exercises/registry.toml
  const char* rule;  // in words, after "rank 0 sends to rank 2: "
  // Returns whether the algorithm has a message between these world ranks. Null: between any.
  bool (*links)(int from, int to, const Scene& scene) = nullptr;
  // Returns the most messages that one rank may send, or receive. Null: any number.
  int (*most)(const Case& example, EventKind kind) = nullptr;
};

/// Returns the first message, by sending rank, that violates the rule. Cost: O(p + number of
/// messages).
std::optional<Failure> failure_of_graph(const MessageGraph& graph, const Trace& trace,
                                        const Case& example);

/// As failure_of_graph, as a check. REQUIRES: the graph outlives it.
RunCheck graph_check(const MessageGraph& graph);

/// Returns all rules. The first, "any", allows all messages.
std::span<const MessageGraph> message_graphs();

/// Returns null if there is no such rule.
const MessageGraph* find_message_graph(std::string_view name);

}  // namespace rankbox
