#include "cli/compare/algorithms.h"

#include <algorithm>
#include <iterator>

#include "collectives/allgather_bruck.h"
#include "collectives/allgather_naive.h"
#include "collectives/allgather_ring.h"
#include "collectives/allgather_tree.h"
#include "collectives/allreduce_butterfly.h"
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_naive.h"
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/allreduce_ring.h"
#include "collectives/allreduce_tree.h"
#include "collectives/alltoall_pairwise.h"
#include "collectives/barrier_dissemination.h"
#include "collectives/broadcast_naive.h"
#include "collectives/broadcast_ring.h"
#include "collectives/broadcast_ring_pipelined.h"
#include "collectives/broadcast_scatter_allgather.h"
#include "collectives/broadcast_tree.h"
#include "collectives/gather_naive.h"
#include "collectives/gather_tree.h"
#include "collectives/reduce_naive.h"
#include "collectives/reduce_scatter_gather.h"
#include "collectives/reduce_scatter_ring.h"
#include "collectives/reduce_tree.h"
#include "collectives/scatter_tree.h"

namespace rankbox::cli {
namespace {

using enum CollectiveKind;
using Settings = CallSettings;

// Every function of the course behind one signature. A template argument each, so that a row of the
// table is one line.
template <void (*function)(Comm&, Tensor&, int)>
void from_root(Comm& dist, Buffers& buffers, const Settings& settings) {
  function(dist, buffers.input, settings.root);
}
template <void (*function)(Comm&, Tensor&, int, ReduceOp)>
void to_root(Comm& dist, Buffers& buffers, const Settings& settings) {
  function(dist, buffers.input, settings.root, settings.op);
}
template <void (*function)(Comm&, Tensor&, ReduceOp)>
void everywhere(Comm& dist, Buffers& buffers, const Settings& settings) {
  function(dist, buffers.input, settings.op);
}
template <void (*function)(Comm&, const Tensor&, Tensor&, int)>
void collect_or_deal(Comm& dist, Buffers& buffers, const Settings& settings) {
  function(dist, buffers.input, buffers.output, settings.root);
}
template <void (*function)(Comm&, const Tensor&, Tensor&)>
void all_to_one_another(Comm& dist, Buffers& buffers, const Settings&) {
  function(dist, buffers.input, buffers.output);
}

const Algorithm kAlgorithms[] = {
    {kBarrier, "native", [](Comm& dist, Buffers&, const Settings&) { dist.barrier(); }},
    {kBarrier, "dissemination",
     [](Comm& dist, Buffers&, const Settings&) { barrier_dissemination(dist); }},

    {kBroadcast, "native",
     [](Comm& dist, Buffers& b, const Settings& s) { dist.broadcast(b.input, s.root); }},
    {kBroadcast, "naive", from_root<broadcast_naive>},
    {kBroadcast, "tree", from_root<broadcast_tree>},
    {kBroadcast, "ring", from_root<broadcast_ring>},
    {kBroadcast, "ring_pipelined",
     [](Comm& dist, Buffers& b, const Settings& s) {
       broadcast_ring_pipelined(dist, b.input, s.root, s.segments);
     }},
    {kBroadcast, "scatter_allgather", from_root<broadcast_scatter_allgather>},

    {kReduce, "native",
     [](Comm& dist, Buffers& b, const Settings& s) { dist.reduce(b.input, s.root, s.op); }},
    {kReduce, "naive", to_root<reduce_naive>},
    {kReduce, "tree", to_root<reduce_tree>},
    {kReduce, "scatter_gather", to_root<reduce_scatter_gather>},

    {kAllReduce, "native",
     [](Comm& dist, Buffers& b, const Settings& s) { dist.all_reduce(b.input, s.op); }},
    {kAllReduce, "naive", everywhere<allreduce_naive>},
    {kAllReduce, "tree", everywhere<allreduce_tree>},
    {kAllReduce, "butterfly", everywhere<allreduce_butterfly>},
    {kAllReduce, "ring", everywhere<allreduce_ring>},
    {kAllReduce, "rabenseifner", everywhere<allreduce_rabenseifner>},
    {kAllReduce, "hierarchical", everywhere<allreduce_hierarchical>},

    {kGather, "native",
     [](Comm& dist, Buffers& b, const Settings& s) { dist.gather(b.input, b.output, s.root); }},
    {kGather, "naive", collect_or_deal<gather_naive>},
    {kGather, "tree", collect_or_deal<gather_tree>},

    {kScatter, "native",
     [](Comm& dist, Buffers& b, const Settings& s) { dist.scatter(b.input, b.output, s.root); }},
    {kScatter, "tree", collect_or_deal<scatter_tree>},

    {kAllGather, "native",
     [](Comm& dist, Buffers& b, const Settings&) { dist.all_gather(b.input, b.output); }},
    {kAllGather, "naive", all_to_one_another<allgather_naive>},
    {kAllGather, "tree", all_to_one_another<allgather_tree>},
    {kAllGather, "ring", all_to_one_another<allgather_ring>},
    {kAllGather, "bruck", all_to_one_another<allgather_bruck>},

    {kReduceScatter, "native",
     [](Comm& dist, Buffers& b, const Settings& s) {
       dist.reduce_scatter(b.input, b.output, s.op);
     }},
    {kReduceScatter, "ring",
     [](Comm& dist, Buffers& b, const Settings& s) {
       reduce_scatter_ring(dist, b.input, b.output, s.op);
     }},

    {kAllToAll, "native",
     [](Comm& dist, Buffers& b, const Settings&) { dist.all_to_all(b.input, b.output); }},
    {kAllToAll, "pairwise", all_to_one_another<alltoall_pairwise>},
};

constexpr CollectiveKind kCollectives[] = {kBroadcast, kReduce,   kAllReduce,     kGather, kScatter,
                                           kAllGather, kAllToAll, kReduceScatter, kBarrier};

}  // namespace

std::vector<Algorithm> algorithms_of(CollectiveKind collective) {
  std::vector<Algorithm> found;
  std::copy_if(std::begin(kAlgorithms), std::end(kAlgorithms), std::back_inserter(found),
               [collective](const Algorithm& each) { return each.collective == collective; });
  return found;
}

std::span<const CollectiveKind> compared_collectives() { return kCollectives; }

bool is_reducing(CollectiveKind collective) {
  return collective == kReduce || collective == kAllReduce || collective == kReduceScatter;
}

bool has_root(CollectiveKind collective) {
  return collective == kBroadcast || collective == kReduce || collective == kGather ||
         collective == kScatter;
}

bool is_in_place(CollectiveKind collective) {
  return collective == kBroadcast || collective == kReduce || collective == kAllReduce;
}

double bus_factor(CollectiveKind collective, int world_size) {
  const double others = static_cast<double>(world_size - 1) / world_size;
  switch (collective) {
    case kAllReduce:
      return 2 * others;
    case kAllGather:
    case kReduceScatter:
    case kAllToAll:
    case kGather:
    case kScatter:
      return others;
    default:
      return 1;
  }
}

}  // namespace rankbox::cli
