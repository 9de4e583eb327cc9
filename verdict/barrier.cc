#include "verdict/barrier.h"

#include <fmt/format.h>

#include "verdict/tables.h"

namespace rankbox {

namespace {

constexpr double kLate = 3600;  // virtual seconds

}  // namespace

std::vector<Case> Barrier::cases() const {
  std::vector<Case> cases;
  for (int world_size : world_sizes()) {
    for (int late = 0; late < world_size; ++late) {
      Case example;
      example.world_size = world_size;
      example.root = late;
      cases.push_back(example);
    }
  }
  return cases;
}

std::optional<Difference> Barrier::run(Comm& dist, const Case& example) const {
  if (dist.rank() == *example.root) dist.compute(kLate);
  function_(dist);
  return std::nullopt;
}

// No tensor, so no bytes.
Cost Barrier::cost(const Case& example) const {
  return form_(example.world_size, 0, kElementBytes);
}

std::optional<Difference> Barrier::after(const RunReport& report, const Case& example) const {
  for (std::size_t rank = 0; rank < report.clocks.size(); ++rank) {
    if (report.clocks[rank].seconds >= kLate) continue;
    return Difference{"the barrier",
                      -1,
                      fmt::format("rank {} leaves after rank {} came", rank, *example.root),
                      fmt::format("rank {} left before rank {} came", rank, *example.root),
                      "news of every rank has to reach every other, directly or not",
                      static_cast<int>(rank)};
  }
  return std::nullopt;
}

}  // namespace rankbox
