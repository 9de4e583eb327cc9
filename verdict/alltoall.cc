#include "verdict/alltoall.h"

#include "verdict/compare.h"
#include "verdict/inputs.h"
#include "verdict/tables.h"

namespace rankbox {

std::vector<Case> AllToAll::cases() const { return cases_by_count(); }

std::optional<Difference> AllToAll::run(Comm& dist, const Case& example) const {
  const std::int64_t count = *example.count;
  const std::int64_t begin = dist.rank() * count / example.world_size;
  const std::int64_t mine = (dist.rank() + 1) * count / example.world_size - begin;

  const Tensor input = elements_of(dist.rank(), count);
  Tensor output = poison(example.world_size * mine);
  function_(dist, input, output);

  if (auto difference = compare_unchanged("input", input, dist.rank(), count)) return difference;
  // All senders' chunks for me have one size, so chunk s of output is its s-th stretch of `mine`.
  return compare_moved(
      "output", output, example.world_size * mine, example.world_size,
      [&](std::int64_t i) { return element(static_cast<int>(i / mine), begin + i % mine); });
}

Cost AllToAll::cost(const Case& example) const {
  return form_(example.world_size, *example.count, kElementBytes);
}

}  // namespace rankbox
