#include "verdict/ping_pong.h"

#include <algorithm>

#include "verdict/compare.h"
#include "verdict/inputs.h"
#include "verdict/partners.h"
#include "verdict/tables.h"

namespace rankbox {

std::vector<Case> PingPong::cases() const { return cases_by_count(); }

std::optional<Difference> PingPong::run(Comm& dist, const Case& example) const {
  const int partner = partner_of(dist.rank(), example.world_size);
  const int server = std::min(dist.rank(), partner);

  Tensor tensor = elements_of(dist.rank(), *example.count);
  function_(dist, tensor, partner);
  return compare_moved("tensor", tensor, *example.count, example.world_size,
                       [&](std::int64_t i) { return element(server, i); });
}

Cost PingPong::cost(const Case& example) const {
  return form_(example.world_size, *example.count, kElementBytes);
}

}  // namespace rankbox
