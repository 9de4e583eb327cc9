#include "verdict/reduce_scatter.h"

#include "verdict/compare.h"
#include "verdict/inputs.h"
#include "verdict/tables.h"

namespace rankbox {

std::vector<Case> ReduceScatter::cases() const { return cases_by_op(); }

std::optional<Difference> ReduceScatter::run(Comm& dist, const Case& example) const {
  const std::int64_t count = *example.count;
  const std::int64_t begin = dist.rank() * count / example.world_size;
  const std::int64_t end = (dist.rank() + 1) * count / example.world_size;
  const ReduceOp op = *example.op;

  Tensor tensor = shares_of(op, dist.rank(), count, example.world_size);
  Tensor piece = poison(end - begin);
  function_(dist, tensor, piece, op);
  return compare_reduced("piece", piece, begin, end - begin, op, example.world_size);
}

Cost ReduceScatter::cost(const Case& example) const {
  return form_(example.world_size, *example.count, kElementBytes);
}

}  // namespace rankbox
