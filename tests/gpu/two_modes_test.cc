// Programs of messages over NCCL and on shared GPUs give the same results, bit by bit.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/allgather_bruck.h"
#include "collectives/allgather_ring.h"
#include "collectives/allreduce_butterfly.h"
#include "collectives/allreduce_double_tree.h"
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/allreduce_ring.h"
#include "collectives/allreduce_ring_segmented.h"
#include "collectives/allreduce_tree.h"
#include "collectives/alltoall_pairwise.h"
#include "collectives/barrier_dissemination.h"
#include "collectives/broadcast_ring_pipelined.h"
#include "collectives/broadcast_scatter_allgather.h"
#include "collectives/broadcast_tree.h"
#include "collectives/gather_tree.h"
#include "collectives/node_grid.h"
#include "collectives/reduce_scatter_gather.h"
#include "collectives/reduce_scatter_ring.h"
#include "collectives/reduce_tree.h"
#include "collectives/scatter_tree.h"
#include "tests/gpu/gpu_test_worlds.h"

namespace rankbox::gpu {
namespace {

using Results = std::vector<std::vector<float>>;

#if defined(__SANITIZE_THREAD__)
constexpr int kWorlds[] = {2, 5};  // the whole table would take minutes
constexpr std::int64_t kCounts[] = {7};
#else
constexpr int kWorlds[] = {1, 2, 3, 5, 8};
constexpr std::int64_t kCounts[] = {1, 7, 1000};
#endif

/// Returns numbers whose sum depends on the order of addition.
Tensor numbers_of(int rank, std::int64_t count) {
  std::vector<float> made;
  for (std::int64_t i = 0; i < count; ++i) {
    made.push_back(1.0f / static_cast<float>(3 * rank + i % 97 + 1) +
                   static_cast<float>(rank) * 1000.25f);
  }
  return from_host(made);
}

struct Program {
  const char* name;
  // The result goes to `tensor` or `gathered` (large enough for all ranks' tensors).
  std::function<void(Comm&, Tensor& tensor, Tensor& gathered)> run;
};

const std::vector<Program>& programs() {
  static const std::vector<Program> all = {
      {"broadcast_tree",
       [](Comm& d, Tensor& t, Tensor&) { broadcast_tree(d, t, d.world_size() - 1); }},
      {"broadcast_ring_pipelined",
       [](Comm& d, Tensor& t, Tensor&) { broadcast_ring_pipelined(d, t, 0, 4); }},
      {"broadcast_scatter_allgather",
       [](Comm& d, Tensor& t, Tensor&) { broadcast_scatter_allgather(d, t, 0); }},
      {"reduce_tree", [](Comm& d, Tensor& t, Tensor&) { reduce_tree(d, t, 0, ReduceOp::SUM); }},
      {"reduce_scatter_gather",
       [](Comm& d, Tensor& t, Tensor&) { reduce_scatter_gather(d, t, 0, ReduceOp::MAX); }},
      {"allreduce_tree", [](Comm& d, Tensor& t, Tensor&) { allreduce_tree(d, t, ReduceOp::SUM); }},
      {"allreduce_butterfly",
       [](Comm& d, Tensor& t, Tensor&) { allreduce_butterfly(d, t, ReduceOp::AVG); }},
      {"allreduce_ring", [](Comm& d, Tensor& t, Tensor&) { allreduce_ring(d, t, ReduceOp::AVG); }},
      {"allreduce_ring_segmented",
       [](Comm& d, Tensor& t, Tensor&) { allreduce_ring_segmented(d, t, ReduceOp::AVG, 3); }},
      {"allreduce_double_tree",
       [](Comm& d, Tensor& t, Tensor&) { allreduce_double_tree(d, t, ReduceOp::AVG, 3); }},
      {"allreduce_rabenseifner",
       [](Comm& d, Tensor& t, Tensor&) { allreduce_rabenseifner(d, t, ReduceOp::SUM); }},
      {"allreduce_hierarchical",
       [](Comm& d, Tensor& t, Tensor&) {
         NodeGrid grid = split_by_node(d);
         allreduce_hierarchical(grid.node, grid.counterparts, t, ReduceOp::SUM);
       }},
      {"allgather_ring", [](Comm& d, Tensor& t, Tensor& g) { allgather_ring(d, t, g); }},
      {"allgather_bruck", [](Comm& d, Tensor& t, Tensor& g) { allgather_bruck(d, t, g); }},
      {"gather_tree", [](Comm& d, Tensor& t, Tensor& g) { gather_tree(d, t, g, 0); }},
      {"scatter_tree", [](Comm& d, Tensor& t, Tensor& g) { scatter_tree(d, g, t, 0); }},
      {"reduce_scatter_ring",
       [](Comm& d, Tensor& t, Tensor& g) {
         Tensor piece(chunk(t, d.rank(), d.world_size()).size());
         reduce_scatter_ring(d, t, piece, ReduceOp::SUM);
         copy(Slice(g).sub(0, piece.size()), piece);
       }},
      {"alltoall_pairwise",
       [](Comm& d, Tensor&, Tensor& g) {
         Tensor in = clone(g);
         in += full(in.size(), static_cast<float>(d.rank()));
         alltoall_pairwise(d, in, g);
       }},
      {"barrier_dissemination", [](Comm& d, Tensor&, Tensor&) { barrier_dissemination(d); }},
      {"asynchronous",
       [](Comm& d, Tensor& t, Tensor& g) {
         const int next = (d.rank() + 1) % d.world_size();
         const int prev = (d.rank() + d.world_size() - 1) % d.world_size();
         Tensor in = zeros(t.size());
         Tensor sum = clone(t);
         const Request received = d.irecv(in, prev);
         const Request sent = d.isend(t, next);
         const Request reduced = d.all_reduce_async(sum, ReduceOp::MAX);
         g *= 2.0f;
         d.wait_all({reduced, received, sent});
         t += in;
         t += sum;
       }},
  };
  return all;
}

Results results_of(const Program& program, int gpus, int ranks, std::int64_t count) {
  const Setting setting(gpus, "auto");
  const int nodes = ranks % 2 == 0 ? 2 : 1;
  return run_ranks({.world_size = ranks, .nodes = nodes},
                   [&](Comm& dist) {
                     Tensor tensor = numbers_of(dist.rank(), count);
                     Tensor gathered = numbers_of(dist.rank() + 50, count * dist.world_size());
                     program.run(dist, tensor, gathered);
                     std::vector<float> all = to_host(tensor);
                     const std::vector<float> more = to_host(gathered);
                     all.insert(all.end(), more.begin(), more.end());
                     return all;
                   })
      .results;
}

TEST_CASE("a program leaves the same results over NCCL and on shared GPUs") {
  for (const Program& program : programs()) {
    const std::string name = program.name;
    CAPTURE(name);
    for (const int ranks : kWorlds) {
      for (const std::int64_t count : kCounts) {
        CAPTURE(ranks);
        CAPTURE(count);
        const Results over_nccl = results_of(program, 8, ranks, count);
        for (const int gpus : {1, 2, 3}) {
          if (gpus >= ranks) continue;
          CAPTURE(gpus);
          CHECK(results_of(program, gpus, ranks, count) == over_nccl);
        }
      }
    }
  }
}

}  // namespace
}  // namespace rankbox::gpu
