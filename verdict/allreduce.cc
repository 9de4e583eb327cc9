#include "verdict/allreduce.h"

#include "verdict/compare.h"
#include "verdict/inputs.h"
#include "verdict/tables.h"

namespace rankbox {

namespace {

template <class Function>
std::optional<Difference> run_on(Comm& dist, const Case& example, Function function) {
  const ReduceOp op = *example.op;
  Tensor tensor = shares_of(op, dist.rank(), *example.count, example.world_size);
  function(dist, tensor, op);
  return compare_reduced("tensor", tensor, 0, *example.count, op, example.world_size);
}

}  // namespace

std::vector<Case> AllReduce::cases() const { return cases_by_op(); }

std::optional<Difference> AllReduce::run(Comm& dist, const Case& example) const {
  return run_on(dist, example, function_);
}

Cost AllReduce::cost(const Case& example) const {
  return form_(example.world_size, *example.count, kElementBytes);
}

std::vector<Case> HierarchicalAllReduce::cases() const {
  std::vector<Case> cases;
  std::size_t turn = 0;
  for (Case example : cases_by_count()) {
    for (int nodes = 1; nodes <= example.world_size; ++nodes) {
      // Uneven nodes too (5 ranks on 2); beyond five nodes, only all ranks alone.
      if (nodes > 5 && nodes != example.world_size) continue;
      example.nodes = nodes;
      example.op = kReduceOps[turn++ % kReduceOps.size()];
      cases.push_back(example);
    }
  }
  return cases;
}

std::optional<Difference> HierarchicalAllReduce::run(Comm& dist, const Case& example) const {
  return run_on(dist, example, function_);
}

Cost HierarchicalAllReduce::cost(const Case& example) const {
  return form_(example.world_size, *example.count, kElementBytes, *example.nodes);
}

}  // namespace rankbox
