#include "cli/train/all_reduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/allreduce_butterfly.h"
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_naive.h"
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/allreduce_ring.h"
#include "collectives/allreduce_tree.h"
#include "comm/errors.h"

namespace rankbox::train {
namespace {

void native(Comm& dist, Tensor& tensor, ReduceOp op) { dist.all_reduce(tensor, op); }

}  // namespace

std::span<const AllReduce> all_reduces() {
  static const std::vector<AllReduce> all = {
      {"native", native, {}},
      {"naive", allreduce_naive, {"allreduce_naive", "reduce_naive", "broadcast_naive"}},
      {"tree", allreduce_tree, {"allreduce_tree", "reduce_tree", "broadcast_tree"}},
      {"butterfly", allreduce_butterfly, {"allreduce_butterfly"}},
      {"ring", allreduce_ring, {"allreduce_ring"}},
      {"rabenseifner", allreduce_rabenseifner, {"allreduce_rabenseifner"}},
      {"hierarchical",
       allreduce_hierarchical,
       {"allreduce_hierarchical", "reduce_tree", "allreduce_rabenseifner", "broadcast_tree"}},
  };
  return all;
}

const AllReduce& all_reduce_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const AllReduce& each : all_reduces()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  throw InvalidArgument(fmt::format("--all-reduce {}: there is no such all-reduce, only {}", name,
                                    fmt::join(names, ", ")));
}

}  // namespace rankbox::train
