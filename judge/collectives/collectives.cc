// The families of the collectives. Each prepares a rank's tensors, calls the function and compares.
#include <utility>
#include <vector>

#include "collectives/allgather_naive.h"
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_naive.h"
#include "collectives/alltoall_pairwise.h"
#include "collectives/broadcast_naive.h"
#include "collectives/broadcast_ring_pipelined.h"
#include "collectives/gather_naive.h"
#include "collectives/node_grid.h"
#include "collectives/reduce_naive.h"
#include "collectives/reduce_scatter_ring.h"
#include "collectives/scatter_tree.h"
#include "comm/unrecorded.h"
#include "judge/case_lists.h"
#include "judge/checks.h"
#include "judge/collectives/families.h"
#include "judge/collectives/reductions.h"
#include "judge/compare.h"
#include "judge/inputs.h"
#include "judge/noted_result.h"
#include "judge/salt.h"

namespace rankbox {

namespace {

using Broadcast = decltype(&broadcast_naive);
using SegmentedBroadcast = decltype(&broadcast_ring_pipelined);
using Reduce = decltype(&reduce_naive);
using AllReduce = decltype(&allreduce_naive);
using AllReduceOnGrid = decltype(&allreduce_hierarchical);
using Gather = decltype(&gather_naive);
using Scatter = decltype(&scatter_tree);
using AllGather = decltype(&allgather_naive);
using AllToAll = decltype(&alltoall_pairwise);
using ReduceScatter = decltype(&reduce_scatter_ring);

// 1. Broadcasts: src's tensor on every rank.

template <class Call>
std::optional<Difference> run_broadcast_with(Call call, Comm& dist, const Case& example) {
  const int src = *example.root;
  Tensor tensor =
      shaped(dist.rank() == src ? elements_of(src, *example.count) : poison(*example.count));
  const Shape shape = tensor.shape();
  call(tensor, src);
  if (auto difference = compare_shape("tensor", tensor.shape(), shape)) return difference;
  return compare_moved("tensor", tensor, *example.count, example.world_size,
                       [&](std::int64_t i) { return element(src, i); });
}

std::optional<Difference> run_broadcast(Broadcast function, Comm& dist, const Case& example) {
  return run_broadcast_with([&](Tensor& tensor, int src) { function(dist, tensor, src); }, dist,
                            example);
}

std::optional<Difference> run_segmented(SegmentedBroadcast function, Comm& dist,
                                        const Case& example) {
  const auto call = [&](Tensor& tensor, int src) {
    function(dist, tensor, src, *example.segments);
  };
  return run_broadcast_with(call, dist, example);
}

std::vector<Case> cases_with_segments() {
  // One segment is the plain ring. With more segments than elements, some are empty.
  const auto few = static_cast<int>(drawn("few segments", 3, 2, 7));
  const auto most = static_cast<int>(drawn("most segments", 40, 18, 60));
  std::vector<Case> cases;
  for (Case example : cases_by_root()) {
    const bool every_number = example.root == example.world_size - 1;
    // Many segments only once per world.
    const bool many = every_number && example.count == example.world_size + 1;
    for (int segments : {1, few, 8, 17, most}) {
      if (segments != few && !every_number) continue;
      if (segments > 8 && !many) continue;
      example.segments = segments;
      cases.push_back(example);
    }
  }
  return cases;
}

std::vector<Case> far_broadcasts() {
  Case many_ranks = far_case();
  many_ranks.root = many_ranks.world_size / 2;
  return {many_ranks, {.world_size = 2, .root = 1, .count = far_count()}};
}

/// Also many segments, in a small world.
std::vector<Case> far_segmented_broadcasts() {
  Case many_ranks = far_case();
  many_ranks.root = many_ranks.world_size / 2;
  many_ranks.segments = 2;
  return {many_ranks,
          {.world_size = 3, .root = 1, .segments = far_segments(), .count = far_count()}};
}

/// Each segment is a message, an empty one, too.
RunCheck check_of_segments() {
  return number_check(
      [](const Case& example) { return std::int64_t{example.world_size - 1} * *example.segments; },
      {"segments-left-out", "every segment is a message, an empty one, too"},
      [](const Case& example) -> double { return example.world_size - 2 + *example.segments; });
}

// 2. Reductions: to one rank, to every rank, or each rank's chunk.

std::optional<Difference> run_reduce(Reduce function, Comm& dist, const Case& example) {
  const int dst = *example.root;
  const ReduceOp op = *example.op;
  Tensor tensor = reduction_input(example, dist.rank());
  const Shape shape = tensor.shape();
  function(dist, tensor, dst, op);
  // On other ranks the tensor is scratch space: its elements may have any value.
  if (dist.rank() != dst) return compare_size("tensor", tensor.size(), *example.count);
  return compare_reduction("tensor", tensor, 0, shape, example);
}

std::vector<Case> far_reductions() {
  Case many_ranks = far_case();
  many_ranks.op = ReduceOp::SUM;
  return {many_ranks, {.world_size = 2, .count = far_count(), .op = ReduceOp::AVG}};
}

std::vector<Case> far_reductions_to_root() {
  std::vector<Case> cases = far_reductions();
  for (Case& example : cases) example.root = example.world_size / 2;
  return cases;
}

template <class Call>
std::optional<Difference> run_allreduce_with(Call call, Comm& dist, const Case& example) {
  Tensor tensor = reduction_input(example, dist.rank());
  const Shape shape = tensor.shape();
  call(tensor, *example.op);
  note_result(tensor);
  return compare_reduction("tensor", tensor, 0, shape, example);
}

std::optional<Difference> run_allreduce(AllReduce function, Comm& dist, const Case& example) {
  return run_allreduce_with([&](Tensor& tensor, ReduceOp op) { function(dist, tensor, op); }, dist,
                            example);
}

std::optional<Difference> run_allreduce_on_grid(AllReduceOnGrid function, Comm& dist,
                                                const Case& example) {
  NodeGrid grid = [&] {
    const Unrecorded unrecorded(dist);  // a program makes it once
    return split_by_node(dist, Place{});
  }();
  return run_allreduce_with(
      [&](Tensor& tensor, ReduceOp op) { function(grid.node, grid.counterparts, tensor, op); },
      dist, example);
}

std::vector<Case> cases_with_nodes() {
  std::vector<Case> cases;
  std::size_t turn = 0;
  for (Case example : cases_by_count()) {
    for (int nodes = 1; nodes <= example.world_size; ++nodes) {
      if (example.world_size % nodes != 0) continue;
      example.nodes = nodes;
      example.op = kReduceOps[turn++ % kReduceOps.size()];
      cases.push_back(example);
    }
  }
  return cases;
}

/// Many nodes, and many ranks in a node.
std::vector<Case> far_cases_with_nodes() {
  constexpr int kFew = 2;
  Case many = far_case();
  many.world_size -= many.world_size % kFew;
  many.nodes = kFew;
  many.op = ReduceOp::SUM;
  std::vector<Case> cases = {many, many};
  cases.back().nodes = many.world_size / kFew;
  cases.push_back({.world_size = 4, .nodes = 2, .count = far_count(), .op = ReduceOp::AVG});
  return cases;
}

/// Returns whether pieces differ in size, unless a program makes them longer.
bool has_uneven_pieces(const Case& example) {
  return *example.count % (example.world_size / *example.nodes) != 0;
}

/// A rank's chunk of `count` elements.
struct Range {
  std::int64_t begin;
  std::int64_t size;
};

Range chunk_of(const Comm& dist, std::int64_t count) {
  const std::int64_t begin = dist.rank() * count / dist.world_size();
  return {begin, (dist.rank() + 1) * count / dist.world_size() - begin};
}

std::optional<Difference> run_reduce_scatter(ReduceScatter function, Comm& dist,
                                             const Case& example) {
  const auto [begin, size] = chunk_of(dist, *example.count);
  const ReduceOp op = *example.op;
  Tensor tensor = reduction_input(example, dist.rank());
  Tensor piece = poison(size);
  function(dist, tensor, piece, op);
  return compare_reduction("piece", piece, begin, size, example);
}

// 3. Gathers: every rank's tensor in rank order, on one rank or on all.

std::vector<Case> far_moves() { return {far_case(), {.world_size = 2, .count = far_count()}}; }

constexpr std::int64_t kMostUnchanged = 9999;  // beyond, elements are not distinct

/// @param gathered the output as the function finds it
/// @param is_result whether this rank gets the result; otherwise its output stays as it is
template <class Call>
std::optional<Difference> run_gather_with(Call call, Comm& dist, const Case& example,
                                          Tensor gathered, bool is_result) {
  const std::int64_t count = *example.count;
  const Tensor tensor = elements_of(dist.rank(), count);
  const std::int64_t size = gathered.size();
  call(tensor, gathered);

  if (auto difference = compare_unchanged("tensor", tensor, dist.rank(), count)) return difference;
  if (!is_result) return compare_unchanged("gathered", gathered, dist.rank(), size);
  return compare_moved("gathered", gathered, size, example.world_size, [&](std::int64_t i) {
    return element(static_cast<int>(i / count), i % count);
  });
}

std::optional<Difference> run_gather(Gather function, Comm& dist, const Case& example) {
  const bool is_dst = dist.rank() == *example.root;
  const std::int64_t size = example.world_size * *example.count;
  // Elsewhere it may be empty, and is left alone.
  const bool is_empty = dist.rank() % 2 == 0 || size > kMostUnchanged;
  Tensor gathered = is_dst ? poison(size) : elements_of(dist.rank(), is_empty ? 0 : size);
  return run_gather_with(
      [&](const Tensor& tensor, Tensor& out) { function(dist, tensor, out, *example.root); }, dist,
      example, std::move(gathered), is_dst);
}

std::optional<Difference> run_allgather(AllGather function, Comm& dist, const Case& example) {
  return run_gather_with(
      [&](const Tensor& tensor, Tensor& gathered) { function(dist, tensor, gathered); }, dist,
      example, poison(example.world_size * *example.count), /*is_result=*/true);
}

// 4. Scatters: each rank receives its chunk of src's tensor. All-to-all: chunk d of rank s becomes
// chunk s of rank d.

// On src, the chunks of all ranks in order. Elsewhere the tensor is ignored: NaN, or empty.
Tensor whole_before(int rank, const Case& example) {
  const std::int64_t count = *example.count;
  if (rank != *example.root) return rank % 2 == 0 ? poison(example.world_size * count) : Tensor();
  std::vector<float> host;
  for (int owner = 0; owner < example.world_size; ++owner) {
    for (std::int64_t i = 0; i < count; ++i) host.push_back(element(owner, i));
  }
  return from_host(host);
}

std::optional<Difference> run_scatter(Scatter function, Comm& dist, const Case& example) {
  const std::int64_t count = *example.count;
  const Tensor whole = whole_before(dist.rank(), example);
  Tensor piece = poison(count);
  function(dist, whole, piece, *example.root);

  if (dist.rank() == *example.root) {
    const auto before = [&](std::int64_t i) {
      return element(static_cast<int>(i / count), i % count);
    };
    if (auto wrong = compare("whole", whole, example.world_size * count, before, is_an_input))
      return wrong;
  }
  return compare_moved("piece", piece, count, example.world_size,
                       [&](std::int64_t i) { return element(dist.rank(), i); });
}

std::optional<Difference> run_alltoall(AllToAll function, Comm& dist, const Case& example) {
  const std::int64_t count = *example.count;
  const Range mine = chunk_of(dist, count);
  const Tensor input = elements_of(dist.rank(), count);
  Tensor output = poison(example.world_size * mine.size);
  function(dist, input, output);

  if (auto difference = compare_unchanged("input", input, dist.rank(), count)) return difference;
  // All chunks for this rank have the same size, so chunk s of the output begins at s * size.
  return compare_moved(
      "output", output, example.world_size * mine.size, example.world_size, [&](std::int64_t i) {
        return element(static_cast<int>(i / mine.size), mine.begin + i % mine.size);
      });
}

}  // namespace

std::vector<Family> collective_families() {
  return {
      family::race(),
      family::ping_pong(),
      family::exchange(),
      family::barrier(),
      family_with_form<Broadcast>("broadcast", "(Comm& dist, Tensor& tensor, int src)",
                                  {.cases = cases_by_root, .far_cases = far_broadcasts},
                                  run_broadcast),
      family_with_form<SegmentedBroadcast>("segmented_broadcast",
                                           "(Comm& dist, Tensor& tensor, int src, int segments)",
                                           {.cases = cases_with_segments,
                                            .far_cases = far_segmented_broadcasts,
                                            .checks = {check_of_segments()}},
                                           run_segmented, &Case::segments),
      family_with_form<Reduce>("reduce", "(Comm& dist, Tensor& tensor, int dst, ReduceOp op)",
                               {.cases = cases_by_root_and_op, .far_cases = far_reductions_to_root},
                               run_reduce),
      family_with_form<AllReduce>("allreduce", "(Comm& dist, Tensor& tensor, ReduceOp op)",
                                  {.cases = cases_by_op, .far_cases = far_reductions},
                                  run_allreduce),
      family_with_form<AllReduceOnGrid>(
          "hierarchical_allreduce", "(Comm& node, Comm& counterparts, Tensor& tensor, ReduceOp op)",
          {.cases = cases_with_nodes,
           .far_cases = far_cases_with_nodes,
           .may_cost_less = has_uneven_pieces},
          run_allreduce_on_grid, &Case::nodes),
      family::segmented_allreduce(),
      family::double_tree(),
      family_with_form<Gather>("gather",
                               "(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst)",
                               {.cases = cases_by_root, .far_cases = far_broadcasts}, run_gather),
      family_with_form<Scatter>(
          "scatter", "(Comm& dist, const Tensor& whole, Tensor& piece, int src)",
          {.cases = cases_by_root, .far_cases = far_broadcasts, .holds_all = true}, run_scatter),
      family_with_form<AllGather>(
          "allgather", "(Comm& dist, const Tensor& tensor, Tensor& gathered)",
          {.cases = cases_by_count, .far_cases = far_moves, .holds_all = true}, run_allgather),
      family_with_form<ReduceScatter>(
          "reduce_scatter", "(Comm& dist, Tensor& tensor, Tensor& piece, ReduceOp op)",
          {.cases = cases_by_op, .far_cases = far_reductions}, run_reduce_scatter),
      family_with_form<AllToAll>("alltoall", "(Comm& dist, const Tensor& input, Tensor& output)",
                                 {.cases = cases_by_count, .far_cases = far_moves}, run_alltoall),
  };
}

}  // namespace rankbox
