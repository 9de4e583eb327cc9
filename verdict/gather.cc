#include "verdict/gather.h"

#include "verdict/compare.h"
#include "verdict/inputs.h"
#include "verdict/tables.h"

namespace rankbox {

std::vector<Case> Gather::cases() const { return cases_by_root(); }

std::optional<Difference> Gather::run(Comm& dist, const Case& example) const {
  const std::int64_t count = *example.count;
  const bool has_all = dist.rank() == *example.root;
  const std::int64_t size = has_all ? example.world_size * count : 0;

  const Tensor tensor = elements_of(dist.rank(), count);
  Tensor gathered = poison(size);
  function_(dist, tensor, gathered, *example.root);

  if (auto difference = compare_unchanged("tensor", tensor, dist.rank(), count)) return difference;
  return compare_moved("gathered", gathered, size, example.world_size, [&](std::int64_t i) {
    return element(static_cast<int>(i / count), i % count);
  });
}

Cost Gather::cost(const Case& example) const {
  return form_(example.world_size, *example.count, kElementBytes);
}

}  // namespace rankbox
