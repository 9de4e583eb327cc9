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
#include "verdict/ping_pong.h"
#include "verdict/race.h"
#include "verdict/reduce.h"
#include "verdict/reduce_scatter.h"
#include "verdict/scatter.h"

namespace rankbox {

namespace {

// The family knows the arguments; the closed form says what this algorithm should cost.
template <class Family, auto... kForm>
Verdict judge_as(const char* name, AnyFunction function, const JudgeOptions& options) {
  const auto typed = reinterpret_cast<typename Family::Function>(function);
  return judge(name, Family(typed, kForm...), options);
}

template <class Family, auto... kForm>
Case first_case_of() {
  return Family(nullptr, kForm...).cases().front();
}

}  // namespace

const std::vector<Chapter>& chapters() {
  static const std::vector<Chapter> kChapters = {
      {1, "01_ranks_and_races", "Ranks and races"},
      {2, "02_broadcast", "Broadcast"},
      {3, "03_reduce", "Reduce"},
      {4, "04_allreduce", "All-reduce"},
      {5, "05_gather", "Gather and its relatives"},
  };
  return kChapters;
}

const std::vector<Exercise>& exercises() {
  static const std::vector<Exercise> kExercises = {
      {"race", 1, 1, 3, "threads update one value; lose no update", Race::kParameters,
       judge_as<Race>, first_case_of<Race>},
      {"ping_pong", 1, 1, 3, "there and back: what a message costs", PingPong::kParameters,
       judge_as<PingPong, cost::ping_pong>, first_case_of<PingPong, cost::ping_pong>},
      {"exchange", 1, 1, 4, "two ranks swap tensors, and must not hang", Exchange::kParameters,
       judge_as<Exchange, cost::exchange>, first_case_of<Exchange, cost::exchange>},
      {"barrier_dissemination", 1, 2, 2, "nobody leaves before everybody has come",
       Barrier::kParameters, judge_as<Barrier, cost::barrier_dissemination>,
       first_case_of<Barrier, cost::barrier_dissemination>},

      {"broadcast_naive", 2, 2, 3, "src sends to every rank in turn", Broadcast::kParameters,
       judge_as<Broadcast, cost::broadcast_naive>, first_case_of<Broadcast, cost::broadcast_naive>},
      {"broadcast_tree", 2, 2, 3, "whoever has it passes it on: twice as many each round",
       Broadcast::kParameters, judge_as<Broadcast, cost::broadcast_tree>,
       first_case_of<Broadcast, cost::broadcast_tree>},
      {"broadcast_ring", 2, 2, 3, "from neighbour to neighbour", Broadcast::kParameters,
       judge_as<Broadcast, cost::broadcast_ring>, first_case_of<Broadcast, cost::broadcast_ring>},
      {"broadcast_ring_pipelined", 2, 3, 4, "the ring in segments, all links busy at once",
       SegmentedBroadcast::kParameters,
       judge_as<SegmentedBroadcast, cost::broadcast_ring_pipelined>,
       first_case_of<SegmentedBroadcast, cost::broadcast_ring_pipelined>},
      {"broadcast_scatter_allgather", 2, 4, 3, "deal out pieces, then pass them all around",
       Broadcast::kParameters, judge_as<Broadcast, cost::broadcast_scatter_allgather>,
       first_case_of<Broadcast, cost::broadcast_scatter_allgather>},

      {"reduce_naive", 3, 3, 2, "every rank sends to dst, which adds up", Reduce::kParameters,
       judge_as<Reduce, cost::reduce_naive>, first_case_of<Reduce, cost::reduce_naive>},
      {"reduce_tree", 3, 3, 2, "pairs add up, then pairs of pairs", Reduce::kParameters,
       judge_as<Reduce, cost::reduce_tree>, first_case_of<Reduce, cost::reduce_tree>},
      {"reduce_scatter_gather", 3, 5, 3, "halve what you are responsible for, then collect",
       Reduce::kParameters, judge_as<Reduce, cost::reduce_scatter_gather>,
       first_case_of<Reduce, cost::reduce_scatter_gather>},

      {"allreduce_naive", 4, 2, 3, "reduce to rank 0, broadcast from there", AllReduce::kParameters,
       judge_as<AllReduce, cost::allreduce_naive>, first_case_of<AllReduce, cost::allreduce_naive>},
      {"allreduce_tree", 4, 2, 3, "the same along trees", AllReduce::kParameters,
       judge_as<AllReduce, cost::allreduce_tree>, first_case_of<AllReduce, cost::allreduce_tree>},
      {"allreduce_butterfly", 4, 2, 3, "swap and add with partners twice as far each round",
       AllReduce::kParameters, judge_as<AllReduce, cost::allreduce_butterfly>,
       first_case_of<AllReduce, cost::allreduce_butterfly>},
      {"allreduce_ring", 4, 3, 5, "chunks go round twice: added up, then handed out",
       AllReduce::kParameters, judge_as<AllReduce, cost::allreduce_ring>,
       first_case_of<AllReduce, cost::allreduce_ring>},
      {"allreduce_rabenseifner", 4, 4, 4, "recursive halving, then recursive doubling",
       AllReduce::kParameters, judge_as<AllReduce, cost::allreduce_rabenseifner>,
       first_case_of<AllReduce, cost::allreduce_rabenseifner>},
      {"allreduce_hierarchical", 4, 4, 4, "within nodes first, one leader per node between them",
       HierarchicalAllReduce::kParameters,
       judge_as<HierarchicalAllReduce, cost::allreduce_hierarchical>,
       first_case_of<HierarchicalAllReduce, cost::allreduce_hierarchical>},

      {"gather_naive", 5, 4, 2, "every rank sends its tensor to dst", Gather::kParameters,
       judge_as<Gather, cost::gather_naive>, first_case_of<Gather, cost::gather_naive>},
      {"gather_tree", 5, 4, 2, "neighbours join their blocks, then pairs of them",
       Gather::kParameters, judge_as<Gather, cost::gather_tree>,
       first_case_of<Gather, cost::gather_tree>},
      {"scatter_tree", 5, 4, 2, "give the far half away, again and again", Scatter::kParameters,
       judge_as<Scatter, cost::scatter_tree>, first_case_of<Scatter, cost::scatter_tree>},
      {"allgather_naive", 5, 4, 2, "gather to rank 0, broadcast from there", AllGather::kParameters,
       judge_as<AllGather, cost::allgather_naive>, first_case_of<AllGather, cost::allgather_naive>},
      {"allgather_tree", 5, 4, 2, "the same along trees", AllGather::kParameters,
       judge_as<AllGather, cost::allgather_tree>, first_case_of<AllGather, cost::allgather_tree>},
      {"allgather_ring", 5, 3, 4, "pass on what came last, p-1 times", AllGather::kParameters,
       judge_as<AllGather, cost::allgather_ring>, first_case_of<AllGather, cost::allgather_ring>},
      {"allgather_bruck", 5, 4, 2, "what a rank holds doubles every round, for any p",
       AllGather::kParameters, judge_as<AllGather, cost::allgather_bruck>,
       first_case_of<AllGather, cost::allgather_bruck>},
      {"reduce_scatter_ring", 5, 3, 4, "each chunk goes round once and collects its sum",
       ReduceScatter::kParameters, judge_as<ReduceScatter, cost::reduce_scatter_ring>,
       first_case_of<ReduceScatter, cost::reduce_scatter_ring>},
      {"alltoall_pairwise", 5, 2, 3, "a different message for everyone, in conflict-free steps",
       AllToAll::kParameters, judge_as<AllToAll, cost::alltoall_pairwise>,
       first_case_of<AllToAll, cost::alltoall_pairwise>},
  };
  return kExercises;
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

void check_replay(const Exercise& exercise, const std::string& text) {
  parse_case(text, exercise.first_case());
}

Verdict judge_exercise(const Exercise& exercise, AnyFunction function,
                       const JudgeOptions& options) {
  return exercise.judge(exercise.name, function, options);
}

}  // namespace rankbox
