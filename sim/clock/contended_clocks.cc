#include "sim/clock/contended_clocks.h"

#include "sim/clock/engine.h"
#include "sim/clock/one_time.h"

namespace rankbox {
namespace {

/// Returns the starts of one of the four clocks.
std::vector<ReplayStart<double>> starts_of(const std::vector<ReplayStart<FourTimes>>& starts,
                                           double FourTimes::*clock) {
  std::vector<ReplayStart<double>> result;
  result.reserve(starts.size());
  for (const ReplayStart<FourTimes>& each : starts) {
    ReplayStart<double>& start = result.emplace_back();
    start.now = each.now.*clock;
    start.first_event = each.first_event;
    for (std::size_t i = 0; i < each.ended.size(); ++i) {
      if (each.ended[i].has_value()) start.ended[i] = (*each.ended[i]).*clock;
    }
  }
  return result;
}

}  // namespace

std::vector<Clock> contended_clocks(const Trace& trace, const Cluster& cluster,
                                    const std::vector<ReplayStart<FourTimes>>& starts) {
  const auto replay = [&](const auto& tariff, double FourTimes::*clock) {
    ReplayEngine engine(trace, tariff, cluster, /*contended=*/true, nullptr);
    engine.begin_at(starts_of(starts, clock));
    return engine.run();
  };
  const auto seconds = replay(Seconds{cluster}, &FourTimes::seconds);
  const auto steps = replay(Coefficient{{1, 0, 0}}, &FourTimes::steps);
  const auto bytes = replay(Coefficient{{0, 1, 0}}, &FourTimes::bytes);
  const auto reduced = replay(Coefficient{{0, 0, 1}}, &FourTimes::reduced);
  std::vector<Clock> clocks;
  for (std::size_t rank = 0; rank < seconds.size(); ++rank)
    clocks.push_back({seconds[rank], {steps[rank], bytes[rank], reduced[rank]}});
  return clocks;
}

}  // namespace rankbox
