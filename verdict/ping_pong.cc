#include "verdict/ping_pong.h"

#include <algorithm>

#include <fmt/format.h>

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

std::string PingPong::remark(const std::function<double(const Case&)>& seconds_of) const {
  const auto round_trip = [&](std::int64_t count) {
    Case example;
    example.world_size = 2;
    example.count = count;
    return seconds_of(example);
  };
  // Half a round trip is α + nβ. Two sizes give the line, and the third shows whether it is one.
  constexpr std::int64_t kShort = 1;
  constexpr std::int64_t kMiddle = 750;
  constexpr std::int64_t kLong = 4096;
  const double shortest = round_trip(kShort);
  const double middle = round_trip(kMiddle);
  const double longest = round_trip(kLong);
  const double beta = (longest - shortest) / 2 / ((kLong - kShort) * kElementBytes);
  const double alpha = shortest / 2 - kShort * kElementBytes * beta;
  return fmt::format(
      "there and back on {}: {} B in {:.4f} µs, {} B in {:.4f} µs, {} B in {:.4f} µs\n"
      "the first and the last give α = {:.3g} µs, β = {:.3g} ns per byte; "
      "these give the middle one {:.4f} µs",
      Cluster().name, kShort * kElementBytes, 1e6 * shortest, kMiddle * kElementBytes, 1e6 * middle,
      kLong * kElementBytes, 1e6 * longest, 1e6 * alpha, 1e9 * beta,
      1e6 * 2 * (alpha + kMiddle * kElementBytes * beta));
}

}  // namespace rankbox
