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
#include "verdict/data_parallel/checkpoint_rank0.h"
#include "verdict/data_parallel/data_parallel.h"
#include "verdict/data_parallel/ddp_average_gradients.h"
#include "verdict/data_parallel/ddp_buckets.h"
#include "verdict/data_parallel/ddp_init_broadcast.h"
#include "verdict/data_parallel/ddp_no_sync.h"
#include "verdict/data_parallel/ddp_overlap.h"
#include "verdict/data_parallel/ddp_uneven_inputs.h"
#include "verdict/data_parallel/distributed_sampler.h"
#include "verdict/data_parallel/exact_metrics.h"
#include "verdict/data_parallel/split_without_leak.h"
#include "verdict/data_parallel/sync_batch_norm.h"
#include "verdict/exchange.h"
#include "verdict/gather.h"
#include "verdict/message_graph.h"
#include "verdict/mixed_precision/dynamic_loss_scaling.h"
#include "verdict/mixed_precision/loss_scaling.h"
#include "verdict/mixed_precision/master_weights.h"
#include "verdict/ping_pong.h"
#include "verdict/pipeline/interleaved_pipeline.h"
#include "verdict/pipeline/pipeline.h"
#include "verdict/pipeline/pipeline_data_parallel.h"
#include "verdict/race.h"
#include "verdict/reduce.h"
#include "verdict/reduce_scatter.h"
#include "verdict/scatter.h"
#include "verdict/sharding/zero1.h"
#include "verdict/sharding/zero2.h"
#include "verdict/sharding/zero3.h"
#include "verdict/tensor_parallel/column_linear.h"
#include "verdict/tensor_parallel/conjugate.h"
#include "verdict/tensor_parallel/parallel_attention.h"
#include "verdict/tensor_parallel/parallel_mlp.h"
#include "verdict/tensor_parallel/row_linear.h"
#include "verdict/tensor_parallel/sequence_parallel.h"
#include "verdict/tensor_parallel/vocab_parallel_cross_entropy.h"

namespace rankbox {

namespace {

// The family knows the arguments, the form what the algorithm costs.
template <class Family, auto... kForm>
std::unique_ptr<Subject> subject_of(AnyFunction function) {
  return std::make_unique<Family>(reinterpret_cast<typename Family::Function>(function), kForm...);
}

template <class Family, auto... kForm>
Exercise row(const char* name, int chapter, int difficulty, int importance,
             const MessageGraph& graph, const char* summary) {
  return {name,    chapter, difficulty,          importance,
          summary, &graph,  Family::kParameters, subject_of<Family, kForm...>};
}

}  // namespace

const std::vector<Chapter>& chapters() {
  static const std::vector<Chapter> all = {
      {1, "01_ranks_and_races", "Ranks and races"},
      {2, "02_broadcast", "Broadcast"},
      {3, "03_reduce", "Reduce"},
      {4, "04_allreduce", "All-reduce"},
      {5, "05_gather", "Gather and its relatives"},
      {6, "06_data_parallel", "Data parallel training", "parallel"},
      {7, "07_mixed_precision", "Mixed precision", "parallel"},
      {8, "08_pipeline_parallel", "Model and pipeline parallel", "parallel"},
      {9, "09_sharding", "Sharding", "parallel"},
      {10, "10_tensor_parallel", "Tensor parallel", "parallel"},
  };
  return all;
}

const std::vector<Exercise>& exercises() {
  static const std::vector<Exercise> all = {
      row<Race>("race", 1, 1, 3, graph::kAny, "threads update one value; lose no update"),
      row<PingPong, cost::ping_pong>("ping_pong", 1, 1, 3, graph::kAny,
                                     "there and back: what a message costs"),
      row<Exchange, cost::exchange>("exchange", 1, 1, 4, graph::kAny,
                                    "two ranks swap tensors, and must not hang"),
      row<Barrier, cost::barrier_dissemination>("barrier_dissemination", 1, 2, 2,
                                                graph::kDoublingDistances,
                                                "nobody leaves before everybody has come"),

      row<Broadcast, cost::broadcast_naive>("broadcast_naive", 2, 2, 3, graph::kFromRoot,
                                            "src sends to every rank in turn"),
      row<Broadcast, cost::broadcast_tree>("broadcast_tree", 2, 2, 3, graph::kTree,
                                           "whoever has it passes it on: twice as many each round"),
      row<Broadcast, cost::broadcast_ring>("broadcast_ring", 2, 2, 3, graph::kRing,
                                           "from neighbour to neighbour"),
      row<SegmentedBroadcast, cost::broadcast_ring_pipelined>(
          "broadcast_ring_pipelined", 2, 3, 4, graph::kRing,
          "the ring in segments, all links busy at once"),
      row<Broadcast, cost::broadcast_scatter_allgather>(
          "broadcast_scatter_allgather", 2, 4, 3, graph::kTreeAndRing,
          "deal out pieces, then pass them all around"),

      row<Reduce, cost::reduce_naive>("reduce_naive", 3, 3, 2, graph::kToRoot,
                                      "every rank sends to dst, which adds up"),
      row<Reduce, cost::reduce_tree>("reduce_tree", 3, 3, 2, graph::kTree,
                                     "pairs add up, then pairs of pairs"),
      row<Reduce, cost::reduce_scatter_gather>("reduce_scatter_gather", 3, 5, 3,
                                               graph::kTwoButterflies,
                                               "halve what you are responsible for, then collect"),

      row<AllReduce, cost::allreduce_naive>("allreduce_naive", 4, 2, 3, graph::kStar,
                                            "reduce to rank 0, broadcast from there"),
      row<AllReduce, cost::allreduce_tree>("allreduce_tree", 4, 2, 3, graph::kTree,
                                           "the same along trees"),
      row<AllReduce, cost::allreduce_butterfly>(
          "allreduce_butterfly", 4, 2, 3, graph::kButterfly,
          "swap and add with partners twice as far each round"),
      row<AllReduce, cost::allreduce_ring>("allreduce_ring", 4, 3, 5, graph::kRing,
                                           "chunks go round twice: added up, then handed out"),
      row<AllReduce, cost::allreduce_rabenseifner>("allreduce_rabenseifner", 4, 4, 4,
                                                   graph::kTwoButterflies,
                                                   "recursive halving, then recursive doubling"),
      row<HierarchicalAllReduce, cost::allreduce_hierarchical>(
          "allreduce_hierarchical", 4, 4, 4, graph::kLeaders,
          "within nodes first, one leader per node between them"),

      row<Gather, cost::gather_naive>("gather_naive", 5, 4, 2, graph::kToRoot,
                                      "every rank sends its tensor to dst"),
      row<Gather, cost::gather_tree>("gather_tree", 5, 4, 2, graph::kTree,
                                     "neighbours join their blocks, then pairs of them"),
      row<Scatter, cost::scatter_tree>("scatter_tree", 5, 4, 2, graph::kTree,
                                       "give the far half away, again and again"),
      row<AllGather, cost::allgather_naive>("allgather_naive", 5, 4, 2, graph::kStar,
                                            "gather to rank 0, broadcast from there"),
      row<AllGather, cost::allgather_tree>("allgather_tree", 5, 4, 2, graph::kTree,
                                           "the same along trees"),
      row<AllGather, cost::allgather_ring>("allgather_ring", 5, 3, 4, graph::kRing,
                                           "pass on what came last, p-1 times"),
      row<AllGather, cost::allgather_bruck>("allgather_bruck", 5, 4, 2, graph::kDoublingDistances,
                                            "what a rank holds doubles every round, for any p"),
      row<ReduceScatter, cost::reduce_scatter_ring>(
          "reduce_scatter_ring", 5, 3, 4, graph::kRing,
          "each chunk goes round once and collects its sum"),
      row<AllToAll, cost::alltoall_pairwise>(
          "alltoall_pairwise", 5, 2, 3, graph::kPairwise,
          "a different message for everyone, in conflict-free steps"),

      row<DistributedSampler>("distributed_sampler", 6, 1, 5, graph::kAny,
                              "which rank learns from which samples"),
      row<DdpInitBroadcast>("ddp_init_broadcast", 6, 1, 4, graph::kAny,
                            "all ranks begin with rank 0's model"),
      row<DdpAverageGradients>("ddp_average_gradients", 6, 1, 5, graph::kAny,
                               "the mean of all ranks' gradients: many ranks learn as one"),
      row<DdpBuckets>("ddp_buckets", 6, 2, 4, graph::kAny,
                      "gradients travel together: fewer latencies"),
      row<DdpNoSync>("ddp_no_sync", 6, 2, 3, graph::kAny,
                     "several backward passes, one synchronization"),
      row<DdpOverlap>("ddp_overlap", 6, 4, 5, graph::kAny,
                      "gradients travel while backward goes on"),
      row<DdpUnevenInputs>("ddp_uneven_inputs", 6, 3, 3, graph::kAny,
                           "some ranks run out of data, and all go on"),
      row<SplitWithoutLeak>("split_without_leak", 6, 1, 4, graph::kAny,
                            "all ranks hold back the same samples"),
      row<DataParallel>("data_parallel", 6, 2, 2, graph::kAny,
                        "a master lends its batch and its model: what DDP replaced"),
      row<SyncBatchNorm>("sync_batch_norm", 6, 3, 3, graph::kAny,
                         "batch norm over the batch of all ranks"),
      row<CheckpointRank0>("checkpoint_rank0", 6, 2, 4, graph::kAny,
                           "one rank writes, all go on from it"),
      row<ExactMetrics>("exact_metrics", 6, 1, 4, graph::kAny,
                        "loss and accuracy of all ranks, from sums"),

      row<MasterWeights>("master_weights", 7, 1, 4, graph::kAny, "learn in 32 bits, compute in 16"),
      row<LossScaling>("loss_scaling", 7, 2, 4, graph::kAny,
                       "gradients that 16 bits can hold, and their mean"),
      row<DynamicLossScaling>("dynamic_loss_scaling", 7, 2, 4, graph::kAny,
                              "find the scale, and skip steps together"),

      row<PipelineOf<schedule::kModelParallel>>(
          "model_parallel", 8, 1, 3, graph::kChain,
          "one micro-batch after the other through all ranks"),
      row<PipelineOf<schedule::kGpipe>>("pipeline_gpipe", 8, 2, 4, graph::kChain,
                                        "all micro-batches forward, then all of them back"),
      row<PipelineOf<schedule::k1F1B>>("pipeline_1f1b", 8, 4, 5, graph::kChain,
                                       "one forward, one back: the same bubble, less memory"),
      row<InterleavedPipeline>("pipeline_interleaved", 8, 5, 2, graph::kRing,
                               "several thin stages a rank: a smaller bubble (bonus)"),
      row<PipelineDataParallel>("pipeline_data_parallel", 8, 2, 4, graph::kChain,
                                "a grid of ranks: pipelines side by side"),

      row<Zero1>("zero1", 9, 2, 5, graph::kAny, "the optimizer's state is dealt out"),
      row<Zero2>("zero2", 9, 3, 4, graph::kAny, "gradients are dealt out, too"),
      row<Zero3>("zero3", 9, 4, 5, graph::kAny,
                 "weights are dealt out, too: a layer is whole while it works"),

      row<ConjugateF>("conjugate_f", 10, 1, 4, graph::kAny,
                      "into layers that are dealt out: on the way back a sum"),
      row<ConjugateG>("conjugate_g", 10, 1, 4, graph::kAny,
                      "out of layers that are dealt out: on the way there a sum"),
      row<ColumnLinear>("column_linear", 10, 2, 5, graph::kAny,
                        "every rank computes some columns of y"),
      row<RowLinear>("row_linear", 10, 2, 5, graph::kAny,
                     "every rank has some columns of x: y is a sum"),
      row<ParallelMlpBlock>("parallel_mlp", 10, 2, 5, graph::kAny,
                            "columns, then rows: one all-reduce there and one back"),
      row<ParallelAttentionBlock>("parallel_attention", 10, 3, 4, graph::kAny,
                                  "the heads are dealt out, whole"),
      row<VocabParallelCrossEntropy>("vocab_parallel_cross_entropy", 10, 4, 4, graph::kAny,
                                     "the loss of logits that nobody gathers"),
      row<SequenceParallel>("sequence_parallel", 10, 4, 3, graph::kAny,
                            "between the blocks every rank has some rows (bonus)"),
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

std::string contract_path(const Exercise& exercise) {
  return fmt::format("{}/{}.h", chapter_of(exercise).contracts, exercise.name);
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

Case first_case_of(const Exercise& exercise) { return exercise.subject(nullptr)->cases().front(); }

Case typical_case_of(const Exercise& exercise) {
  const std::vector<Case> cases = exercise.subject(nullptr)->cases();
  const auto is_typical = [](const Case& example) {
    return example.world_size == 8 && example.root.value_or(0) == 0 &&
           example.nodes.value_or(2) == 2 && example.steps.value_or(0) == 0;
  };
  const auto found = std::find_if(cases.rbegin(), cases.rend(), is_typical);
  return found == cases.rend() ? cases.back() : *found;
}

std::int64_t count_to_show(const Exercise& exercise) {
  return exercise.subject(nullptr)->count_to_show();
}

bool sends_messages(const Exercise& exercise) {
  return exercise.subject(nullptr)->sends_messages();
}

bool has_cost_form(const Exercise& exercise) {
  const std::unique_ptr<Subject> subject = exercise.subject(nullptr);
  return subject->sends_messages() && subject->has_cost_form();
}

std::optional<IdleShare> idle_share_of(const Exercise& exercise, const Case& example) {
  return exercise.subject(nullptr)->idle_share(example);
}

Cost cost_of(const Exercise& exercise, const Case& example) {
  return exercise.subject(nullptr)->cost(example);
}

void check_replay(const Exercise& exercise, const std::string& text) {
  parse_case(text, first_case_of(exercise));
}

Attempt attempt_exercise(const Exercise& exercise, AnyFunction function, const Case& example,
                         const RunOptions& how, const std::function<void()>& entering) {
  return attempt(*exercise.subject(function), example, how, entering);
}

Verdict judge_exercise(const Exercise& exercise, AnyFunction function,
                       const JudgeOptions& options) {
  return judge(exercise.name, *exercise.subject(function), options, *exercise.graph);
}

}  // namespace rankbox
