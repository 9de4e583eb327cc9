#include "verdict/reduce.h"

#include "verdict/compare.h"
#include "verdict/inputs.h"
#include "verdict/tables.h"

namespace rankbox {

std::vector<Case> Reduce::cases() const { return cases_by_root_and_op(); }

std::optional<Difference> Reduce::run(Comm& dist, const Case& example) const {
  const int dst = *example.root;
  const ReduceOp op = *example.op;
  Tensor tensor = shares_of(op, dist.rank(), *example.count, example.world_size);
  function_(dist, tensor, dst, op);
  // Elsewhere the tensor is work space: its elements may be anything.
  if (dist.rank() != dst) return compare_size("tensor", tensor, *example.count);
  return compare_reduced("tensor", tensor, 0, *example.count, op, example.world_size);
}

Cost Reduce::cost(const Case& example) const {
  return form_(example.world_size, *example.count, kElementBytes);
}

}  // namespace rankbox
