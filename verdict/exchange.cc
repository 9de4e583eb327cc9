#include "verdict/exchange.h"

#include "verdict/compare.h"
#include "verdict/inputs.h"
#include "verdict/partners.h"
#include "verdict/tables.h"

namespace rankbox {

std::vector<Case> Exchange::cases() const { return cases_by_count(); }

std::optional<Difference> Exchange::run(Comm& dist, const Case& example) const {
  const std::int64_t count = *example.count;
  const int partner = partner_of(dist.rank(), example.world_size);

  const Tensor mine = elements_of(dist.rank(), count);
  Tensor theirs = poison(count);
  function_(dist, mine, theirs, partner);

  if (auto difference = compare_unchanged("mine", mine, dist.rank(), count)) return difference;
  return compare_moved("theirs", theirs, count, example.world_size,
                       [&](std::int64_t i) { return element(partner, i); });
}

Cost Exchange::cost(const Case& example) const {
  return form_(example.world_size, *example.count, kElementBytes);
}

}  // namespace rankbox
