#include "verdict/message_graph.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "collectives/topology.h"

namespace rankbox {

namespace {

Failure failure_at(const Event& event, int rank) {
  Failure failure;
  failure.kind = FailureKind::kMessages;
  failure.rank = rank;
  failure.peer = event.peer;
  failure.op = name_of(event);
  failure.file = event.place.file_name();
  failure.line = static_cast<int>(event.place.line());
  return failure;
}

/// The first send, or receive, of `rank` that is one too many.
std::optional<Failure> failure_of_number(const MessageGraph& graph,
                                         const std::vector<Event>& events, int rank,
                                         const Case& example) {
  const int most = graph.most(example);
  for (const EventKind kind : {EventKind::kSend, EventKind::kRecv}) {
    int number = 0;
    const Event* excess = nullptr;
    for (const Event& event : events) {
      if (event.kind == kind && ++number == most + 1) excess = &event;
    }
    if (excess == nullptr) continue;
    Failure failure = failure_at(*excess, rank);
    failure.message = fmt::format("rank {} {} {} messages, {} would do ({}): {}", rank,
                                  kind == EventKind::kSend ? "sends" : "receives", number, most,
                                  to_string(example), graph.rule);
    return failure;
  }
  return std::nullopt;
}

bool differ_in_one_bit(int a, int b) { return is_power_of_two(a ^ b); }

}  // namespace

std::optional<Failure> failure_of_graph(const MessageGraph& graph, const Trace& trace,
                                        const Case& example) {
  for (std::size_t i = 0; i < trace.ranks.size(); ++i) {
    const int rank = static_cast<int>(i);
    for (const Event& event : trace.ranks[i]) {
      if (graph.links == nullptr || event.kind != EventKind::kSend) continue;
      if (graph.links(rank, event.peer, example)) continue;
      Failure failure = failure_at(event, rank);
      failure.message = fmt::format("rank {} sends to rank {} ({}): {}", rank, event.peer,
                                    to_string(example), graph.rule);
      return failure;
    }
  }
  for (std::size_t i = 0; i < trace.ranks.size() && graph.most != nullptr; ++i) {
    if (auto failure = failure_of_number(graph, trace.ranks[i], static_cast<int>(i), example)) {
      return failure;
    }
  }
  return std::nullopt;
}

namespace graph {

bool leaves_root(int from, int /*to*/, const Case& example) { return from == example.root; }

bool reaches_root(int /*from*/, int to, const Case& example) { return to == example.root; }

bool touches_rank_0(int from, int to, const Case& /*example*/) { return from == 0 || to == 0; }

bool joins_neighbours(int from, int to, const Case& example) {
  return to == next_rank(from, example.world_size) || to == prev_rank(from, example.world_size);
}

// Ranks may be numbered from the root on or not. If p is no power of two, some ranks fold first;
// which ones, and how the others are numbered after that, is free.
bool joins_partners(int from, int to, const Case& example) {
  const int p = example.world_size;
  if (!is_power_of_two(p)) return true;
  const int root = example.root.value_or(0);
  return differ_in_one_bit(from, to) ||
         differ_in_one_bit(virtual_rank_of(from, root, p), virtual_rank_of(to, root, p));
}

bool is_power_of_two_apart(int from, int to, const Case& example) {
  const int ahead = wrap(to - from, example.world_size);
  return is_power_of_two(ahead) || is_power_of_two(example.world_size - ahead);
}

bool joins_leaders_or_node(int from, int to, const Case& example) {
  const int nodes = example.nodes.value_or(1);
  const auto node_of = [&](int rank) { return rank * nodes / example.world_size; };
  const auto leads = [&](int rank) { return rank == 0 || node_of(rank - 1) != node_of(rank); };
  return node_of(from) == node_of(to) || (leads(from) && leads(to));
}

int rounds_of_tree(const Case& example) { return rounds(example.world_size); }

int rounds_of_tree_and_ring(const Case& example) {
  return rounds(example.world_size) + example.world_size - 1;
}

int rounds_of_butterfly(const Case& example) {
  const bool folds = !is_power_of_two(example.world_size);
  return floor_log2(example.world_size) + (folds ? 1 : 0);
}

int rounds_of_two_butterflies(const Case& example) {
  const bool folds = !is_power_of_two(example.world_size);
  return 2 * floor_log2(example.world_size) + (folds ? 1 : 0);
}

int others(const Case& example) { return example.world_size - 1; }

}  // namespace graph
}  // namespace rankbox
