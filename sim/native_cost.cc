#include "sim/native_cost.h"

#include <bit>

namespace rankbox::sim {
namespace {

Cost cheaper(const Cost& a, const Cost& b, const Link& link, double gamma) {
  const auto price = [&](const Cost& c) {
    return c.steps * link.alpha + c.bytes * link.beta + c.reduced * gamma;
  };
  return price(a) <= price(b) ? a : b;
}

}  // namespace

Cost native_cost(CollectiveKind kind, int world_size, double bytes, const Link& link,
                 double gamma) {
  if (world_size == 1) return {};
  const double p = world_size;
  const double rounds = std::bit_width(static_cast<unsigned>(world_size - 1));  // ceil(log2 p)
  const double share = (p - 1) / p;
  const double n = bytes;
  switch (kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSplit:
      return {rounds, 0, 0};
    case CollectiveKind::kBroadcast:
      return cheaper({rounds, rounds * n, 0}, {rounds + p - 1, 2 * share * n, 0}, link, gamma);
    case CollectiveKind::kReduce:
    case CollectiveKind::kAllReduce:
      return cheaper({rounds, rounds * n, rounds * n}, {2 * rounds, 2 * share * n, share * n}, link,
                     gamma);
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
    case CollectiveKind::kAllGather:
      return {rounds, (p - 1) * n, 0};  // n per rank: p*n in all, of which a share moves
    case CollectiveKind::kReduceScatter:
      return {rounds, share * n, share * n};
    case CollectiveKind::kAllToAll:
      return cheaper({p - 1, share * n, 0}, {rounds, rounds * n / 2, 0}, link, gamma);
  }
  return {};
}

}  // namespace rankbox::sim
