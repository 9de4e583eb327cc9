#include "judge/message_graph.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "collectives/topology.h"

namespace rankbox {

namespace {

Failure failure_at(const Event& event, int rank, const MessageGraph& graph) {
  Failure failure;
  failure.kind = FailureKind::kMessages;
  failure.hint = {fmt::format("graph-{}", graph.name), graph.rule};
  std::ranges::replace(failure.hint.id, '_', '-');
  failure.rank = rank;
  failure.peer = event.peer;
  failure.op = name_of(event);
  failure.file = event.place.file_name();
  failure.line = static_cast<int>(event.place.line());
  return failure;
}

/// Returns the first send, or receive, of `rank` that exceeds the limit.
std::optional<Failure> failure_of_number(const MessageGraph& graph,
                                         const std::vector<Event>& events, int rank,
                                         const Case& example) {
  for (const EventKind kind : {EventKind::kSend, EventKind::kRecv}) {
    const int most = graph.most(example, kind);
    int number = 0;
    const Event* excess = nullptr;
    for (const Event& event : events) {
      if (event.kind == kind && ++number == most + 1) excess = &event;
    }
    if (excess == nullptr) continue;
    Failure failure = failure_at(*excess, rank, graph);
    failure.message = fmt::format("rank {} {} {} messages, {} would do ({}): {}", rank,
                                  kind == EventKind::kSend ? "sends" : "receives", number, most,
                                  to_string(example), graph.rule);
    return failure;
  }
  return std::nullopt;
}

/// Returns the rank with the most messages.
int busiest_rank(const Trace& trace) {
  const auto messages = [](const std::vector<Event>& events) {
    return std::ranges::count_if(events, [](const Event& event) {
      return event.kind == EventKind::kSend || event.kind == EventKind::kRecv;
    });
  };
  const auto busiest = std::ranges::max_element(trace.ranks, {}, messages);
  return static_cast<int>(busiest - trace.ranks.begin());
}

bool differ_in_one_bit(int a, int b) { return is_power_of_two(a ^ b); }

bool leaves_root(int from, int /*to*/, const Scene& scene) { return from == scene.example.root; }

bool reaches_root(int /*from*/, int to, const Scene& scene) { return to == scene.example.root; }

bool touches_centre(int from, int to, const Scene& scene) {
  return from == scene.centre || to == scene.centre;
}

bool joins_neighbours(int from, int to, const Scene& scene) {
  const int p = scene.example.world_size;
  return to == next_rank(from, p) || to == prev_rank(from, p);
}

bool joins_stages(int from, int to, const Scene& scene) {
  const int stages = scene.example.world_size / scene.example.replicas.value_or(1);
  return from / stages == to / stages && (from == to + 1 || to == from + 1);
}

// Ranks may be numbered relative to the root or not. If p is no power of two, some ranks fold
// first; the program chooses which, and how it numbers the others after that.
bool joins_partners(int from, int to, const Scene& scene) {
  const int p = scene.example.world_size;
  if (!is_power_of_two(p)) return true;
  const int root = scene.example.root.value_or(0);
  return differ_in_one_bit(from, to) ||
         differ_in_one_bit(virtual_rank_of(from, root, p), virtual_rank_of(to, root, p));
}

bool is_power_of_two_apart(int from, int to, const Scene& scene) {
  const int ahead = wrap(to - from, scene.example.world_size);
  return is_power_of_two(ahead) || is_power_of_two(scene.example.world_size - ahead);
}

bool joins_row_or_column(int from, int to, const Scene& scene) {
  const int local_ranks = scene.example.world_size / scene.example.nodes.value_or(1);
  const int here = from % local_ranks;
  const int there = to % local_ranks;
  if (from / local_ranks != to / local_ranks) return here == there;
  return there == next_rank(here, local_ranks) || there == prev_rank(here, local_ranks);
}

bool joins_in_a_tree(int from, int to, const Scene& scene) {
  const int p = scene.example.world_size;
  for (const int tree : {0, 1}) {
    const int a = tree_position(tree, from, p);
    const int b = tree_position(tree, to, p);
    if (a / 2 == b || b / 2 == a) return true;
  }
  return false;
}

int four_a_segment(const Case& example, EventKind /*kind*/) {
  return 4 * example.segments.value_or(1);
}

int rounds_of_tree(const Case& example, EventKind /*kind*/) { return rounds(example.world_size); }

int up_a_tree(const Case& example, EventKind kind) {
  return kind == EventKind::kSend ? 1 : rounds(example.world_size);
}

int down_a_tree(const Case& example, EventKind kind) {
  return kind == EventKind::kRecv ? 1 : rounds(example.world_size);
}

int rounds_of_tree_and_ring(const Case& example, EventKind /*kind*/) {
  return rounds(example.world_size) + example.world_size - 1;
}

int rounds_of_butterfly(const Case& example, EventKind /*kind*/) {
  const bool folds = !is_power_of_two(example.world_size);
  return floor_log2(example.world_size) + (folds ? 1 : 0);
}

int rounds_of_two_butterflies(const Case& example, EventKind /*kind*/) {
  const bool folds = !is_power_of_two(example.world_size);
  return 2 * floor_log2(example.world_size) + (folds ? 1 : 0);
}

int others(const Case& example, EventKind /*kind*/) { return example.world_size - 1; }

constexpr MessageGraph kGraphs[] = {
    {"any", ""},
    {"from_root", "all messages come from src itself", leaves_root},
    {"to_root", "all messages go to dst itself", reaches_root},
    {"star", "one rank, the same for all, is at one end of every message", touches_centre},
    {"ring", "on a ring only neighbours talk", joins_neighbours},
    {"chain", "a stage talks to the next one and the one before", joins_stages},
    {"tree", "in a tree no rank has more than ⌈log2 p⌉ others to talk to", nullptr, rounds_of_tree},
    {"tree_to_root", "up a tree a rank receives from at most ⌈log2 p⌉ others, and sends once",
     nullptr, up_a_tree},
    {"tree_from_root", "down a tree a rank receives once, and sends to at most ⌈log2 p⌉ others",
     nullptr, down_a_tree},
    {"tree_and_ring", "a tree and a ring take at most ⌈log2 p⌉ + p-1 messages a rank", nullptr,
     rounds_of_tree_and_ring},
    {"double_tree",
     "in each of the two trees a rank talks to its parent and its children, in at most 4 "
     "messages a segment",
     joins_in_a_tree, four_a_segment},
    {"butterfly", "partners differ in one bit, and there is one a round", joins_partners,
     rounds_of_butterfly},
    {"two_butterflies", "partners differ in one bit, and meet once to halve and once to join",
     joins_partners, rounds_of_two_butterflies},
    {"doubling_distances", "distances between partners are 1, 2, 4, …, one a round",
     is_power_of_two_apart, rounds_of_tree},
    {"node_grid", "neighbours on the ring of a node talk, and between nodes the same local ranks",
     joins_row_or_column},
    {"pairwise", "every rank sends one message to every other", nullptr, others},
};

}  // namespace

std::optional<Failure> failure_of_graph(const MessageGraph& graph, const Trace& trace,
                                        const Case& example) {
  const Scene scene = {.example = example, .centre = busiest_rank(trace)};
  for (int rank = 0; graph.links != nullptr && rank < example.world_size; ++rank) {
    for (const Event& event : trace.ranks[static_cast<std::size_t>(rank)]) {
      if (event.kind != EventKind::kSend || graph.links(rank, event.peer, scene)) continue;
      Failure failure = failure_at(event, rank, graph);
      failure.message = fmt::format("rank {} sends to rank {} ({}): {}", rank, event.peer,
                                    to_string(example), graph.rule);
      return failure;
    }
  }
  for (int rank = 0; graph.most != nullptr && rank < example.world_size; ++rank) {
    const std::vector<Event>& events = trace.ranks[static_cast<std::size_t>(rank)];
    if (auto failure = failure_of_number(graph, events, rank, example)) return failure;
  }
  return std::nullopt;
}

RunCheck graph_check(const MessageGraph& graph) {
  return {.kind = FailureKind::kMessages,
          .compare =
              [&graph](const RunReport& report, const Case& example) {
                auto failure = failure_of_graph(graph, report.trace, example);
                if (failure) {
                  failure->expected = graph.rule;
                  failure->actual = failure->message;
                }
                return failure;
              },
          .promise = graph.rule};
}

std::span<const MessageGraph> message_graphs() { return kGraphs; }

const MessageGraph* find_message_graph(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kGraphs), std::end(kGraphs),
                   [&](const MessageGraph& graph) { return graph.name == name; });
  return found == std::end(kGraphs) ? nullptr : found;
}

}  // namespace rankbox
