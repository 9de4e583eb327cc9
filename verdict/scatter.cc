#include "verdict/scatter.h"

#include <vector>

#include "verdict/compare.h"
#include "verdict/inputs.h"
#include "verdict/tables.h"

namespace rankbox {

namespace {

// On src the pieces of all ranks in order. Elsewhere it is to be ignored: full of junk, or empty.
Tensor whole_before(int rank, const Case& example) {
  const std::int64_t count = *example.count;
  if (rank != *example.root) return rank % 2 == 0 ? poison(example.world_size * count) : Tensor();
  std::vector<float> host;
  for (int owner = 0; owner < example.world_size; ++owner) {
    for (std::int64_t i = 0; i < count; ++i) host.push_back(element(owner, i));
  }
  return from_host(host);
}

}  // namespace

std::vector<Case> Scatter::cases() const { return cases_by_root(); }

std::optional<Difference> Scatter::run(Comm& dist, const Case& example) const {
  const Tensor whole = whole_before(dist.rank(), example);
  Tensor piece = poison(*example.count);
  function_(dist, whole, piece, *example.root);

  if (dist.rank() == *example.root) {
    const Tensor before = whole_before(dist.rank(), example);
    const std::vector<float> host = to_host(before);
    auto difference = compare(
        "whole", whole, before.size(),
        [&](std::int64_t i) { return host[static_cast<std::size_t>(i)]; },
        [](float, std::int64_t) {
          return std::string("it is an input, and has to stay as it was");
        });
    if (difference) return difference;
  }
  return compare_moved("piece", piece, *example.count, example.world_size,
                       [&](std::int64_t i) { return element(dist.rank(), i); });
}

Cost Scatter::cost(const Case& example) const {
  return form_(example.world_size, *example.count, kElementBytes);
}

}  // namespace rankbox
