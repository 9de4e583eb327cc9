#include "verdict/catalog.h"

#include <algorithm>

#include <fmt/format.h>

#include "collectives/cost.h"
#include "collectives/cost_gather.h"
#include "collectives/cost_ranks.h"
#include "comm/errors.h"
#include "verdict/allgather.h"
#include "verdict/allreduce.h"
#include "verdict/alltoall.h"
#include "verdict/barrier.h"
#include "verdict/broadcast.h"
#include "verdict/exchange.h"
#include "verdict/gather.h"
#include "verdict/message_graph.h"
#include "verdict/ping_pong.h"
#include "verdict/race.h"
#include "verdict/reduce.h"
#include "verdict/reduce_scatter.h"
#include "verdict/scatter.h"

namespace rankbox {

namespace {

// The family knows the arguments; the graph says which messages this algorithm has, and the closed
// form what they cost.
template <class Family, const MessageGraph& kGraph, auto... kForm>
Verdict judge_as(const char* name, AnyFunction function, const JudgeOptions& options) {
  const auto typed = reinterpret_cast<typename Family::Function>(function);
  return judge(name, Family(typed, kForm...), options, kGraph);
}

template <class Family, auto... kForm>
Attempt attempt_as(AnyFunction function, const Case& example, const RunOptions& how,
                   const std::function<void()>& entering) {
  const auto typed = reinterpret_cast<typename Family::Function>(function);
  return attempt(Family(typed, kForm...), example, how, entering);
}

template <class Family, auto... kForm>
Case first_case_of() {
  return Family(nullptr, kForm...).cases().front();
}

template <class Family, auto... kForm>
Case typical_case_of() {
  const std::vector<Case> cases = Family(nullptr, kForm...).cases();
  const auto is_typical = [](const Case& example) {
    return example.world_size == 8 && example.root.value_or(0) == 0 &&
           example.nodes.value_or(2) == 2;
  };
  const auto found = std::find_if(cases.rbegin(), cases.rend(), is_typical);
  return found == cases.rend() ? cases.back() : *found;
}

template <class Family, auto... kForm>
Cost cost_of(const Case& example) {
  return Family(nullptr, kForm...).cost(example);
}

template <class Family, const MessageGraph& kGraph, auto... kForm>
Exercise row(const char* name, int chapter, int difficulty, int importance, const char* summary) {
  return {name,
          chapter,
          difficulty,
          importance,
          summary,
          Family::kParameters,
          judge_as<Family, kGraph, kForm...>,
          attempt_as<Family, kForm...>,
          first_case_of<Family, kForm...>,
          typical_case_of<Family, kForm...>,
          sizeof...(kForm) == 0 ? nullptr : cost_of<Family, kForm...>};
}

}  // namespace

const std::vector<Chapter>& chapters() {
  static const std::vector<Chapter> all = {
      {1, "01_ranks_and_races", "Ranks and races"},
      {2, "02_broadcast", "Broadcast"},
      {3, "03_reduce", "Reduce"},
      {4, "04_allreduce", "All-reduce"},
      {5, "05_gather", "Gather and its relatives"},
  };
  return all;
}

const std::vector<Exercise>& exercises() {
  static const std::vector<Exercise> all = {
      row<Race, graph::kAny>("race", 1, 1, 3, "threads update one value; lose no update"),
      row<PingPong, graph::kAny, cost::ping_pong>("ping_pong", 1, 1, 3,
                                                  "there and back: what a message costs"),
      row<Exchange, graph::kAny, cost::exchange>("exchange", 1, 1, 4,
                                                 "two ranks swap tensors, and must not hang"),
      row<Barrier, graph::kDoublingDistances, cost::barrier_dissemination>(
          "barrier_dissemination", 1, 2, 2, "nobody leaves before everybody has come"),

      row<Broadcast, graph::kFromRoot, cost::broadcast_naive>("broadcast_naive", 2, 2, 3,
                                                              "src sends to every rank in turn"),
      row<Broadcast, graph::kTree, cost::broadcast_tree>(
          "broadcast_tree", 2, 2, 3, "whoever has it passes it on: twice as many each round"),
      row<Broadcast, graph::kRing, cost::broadcast_ring>("broadcast_ring", 2, 2, 3,
                                                         "from neighbour to neighbour"),
      row<SegmentedBroadcast, graph::kRing, cost::broadcast_ring_pipelined>(
          "broadcast_ring_pipelined", 2, 3, 4, "the ring in segments, all links busy at once"),
      row<Broadcast, graph::kTreeAndRing, cost::broadcast_scatter_allgather>(
          "broadcast_scatter_allgather", 2, 4, 3, "deal out pieces, then pass them all around"),

      row<Reduce, graph::kToRoot, cost::reduce_naive>("reduce_naive", 3, 3, 2,
                                                      "every rank sends to dst, which adds up"),
      row<Reduce, graph::kTree, cost::reduce_tree>("reduce_tree", 3, 3, 2,
                                                   "pairs add up, then pairs of pairs"),
      row<Reduce, graph::kTwoButterflies, cost::reduce_scatter_gather>(
          "reduce_scatter_gather", 3, 5, 3, "halve what you are responsible for, then collect"),

      row<AllReduce, graph::kStar, cost::allreduce_naive>("allreduce_naive", 4, 2, 3,
                                                          "reduce to rank 0, broadcast from there"),
      row<AllReduce, graph::kTree, cost::allreduce_tree>("allreduce_tree", 4, 2, 3,
                                                         "the same along trees"),
      row<AllReduce, graph::kButterfly, cost::allreduce_butterfly>(
          "allreduce_butterfly", 4, 2, 3, "swap and add with partners twice as far each round"),
      row<AllReduce, graph::kRing, cost::allreduce_ring>(
          "allreduce_ring", 4, 3, 5, "chunks go round twice: added up, then handed out"),
      row<AllReduce, graph::kTwoButterflies, cost::allreduce_rabenseifner>(
          "allreduce_rabenseifner", 4, 4, 4, "recursive halving, then recursive doubling"),
      row<HierarchicalAllReduce, graph::kLeaders, cost::allreduce_hierarchical>(
          "allreduce_hierarchical", 4, 4, 4,
          "within nodes first, one leader per node between them"),

      row<Gather, graph::kToRoot, cost::gather_naive>("gather_naive", 5, 4, 2,
                                                      "every rank sends its tensor to dst"),
      row<Gather, graph::kTree, cost::gather_tree>(
          "gather_tree", 5, 4, 2, "neighbours join their blocks, then pairs of them"),
      row<Scatter, graph::kTree, cost::scatter_tree>("scatter_tree", 5, 4, 2,
                                                     "give the far half away, again and again"),
      row<AllGather, graph::kStar, cost::allgather_naive>("allgather_naive", 5, 4, 2,
                                                          "gather to rank 0, broadcast from there"),
      row<AllGather, graph::kTree, cost::allgather_tree>("allgather_tree", 5, 4, 2,
                                                         "the same along trees"),
      row<AllGather, graph::kRing, cost::allgather_ring>("allgather_ring", 5, 3, 4,
                                                         "pass on what came last, p-1 times"),
      row<AllGather, graph::kDoublingDistances, cost::allgather_bruck>(
          "allgather_bruck", 5, 4, 2, "what a rank holds doubles every round, for any p"),
      row<ReduceScatter, graph::kRing, cost::reduce_scatter_ring>(
          "reduce_scatter_ring", 5, 3, 4, "each chunk goes round once and collects its sum"),
      row<AllToAll, graph::kPairwise, cost::alltoall_pairwise>(
          "alltoall_pairwise", 5, 2, 3, "a different message for everyone, in conflict-free steps"),
  };
  return all;
}

const Exercise* find_exercise(std::string_view name) {
  const auto found = std::find_if(exercises().begin(), exercises().end(),
                                  [&](const Exercise& exercise) { return name == exercise.name; });
  return found == exercises().end() ? nullptr : &*found;
}

const Chapter& chapter_of(const Exercise& exercise) {
  for (const Chapter& chapter : chapters()) {
    if (chapter.number == exercise.chapter) return chapter;
  }
  throw InvalidArgument(fmt::format("there is no chapter {}", exercise.chapter));
}

std::string stub_path(const Exercise& exercise) {
  return fmt::format("exercises/{}/{}.cc", chapter_of(exercise).folder, exercise.name);
}

std::string solution_path(const Exercise& exercise) {
  return fmt::format("solutions/{}/{}.cc", chapter_of(exercise).folder, exercise.name);
}

std::string pristine_path(const Exercise& exercise) {
  return fmt::format("exercises/stubs/{}/{}.cc", chapter_of(exercise).folder, exercise.name);
}

void check_replay(const Exercise& exercise, const std::string& text) {
  parse_case(text, exercise.first_case());
}

Verdict judge_exercise(const Exercise& exercise, AnyFunction function,
                       const JudgeOptions& options) {
  return exercise.judge(exercise.name, function, options);
}

}  // namespace rankbox
