#include "sim/clock/clock.h"

#include "sim/clock/contended_clocks.h"
#include "sim/clock/engine.h"
#include "sim/clock/four_times.h"
#include "sim/clock/one_time.h"

namespace rankbox {
namespace {

/// Returns false if no messages can compete for a port: they do only if some are in flight while
/// their rank does other work.
bool is_contended(const Trace& trace) {
  for (const std::vector<Event>& events : trace.ranks) {
    for (const Event& event : events) {
      if (event.async || event.buffered) return true;
    }
  }
  return false;
}

}  // namespace

Replay replay_trace(const Trace& trace, const Cluster& cluster) {
  Replay result;
  for (const std::vector<Event>& events : trace.ranks) result.spans.emplace_back(events.size());
  result.clocks =
      ReplayEngine(trace, Seconds{cluster}, cluster, is_contended(trace), &result.spans).run();
  return result;
}

std::vector<Clock> measure_clocks(const Trace& trace, const Cluster& cluster) {
  if (!is_contended(trace)) {
    std::vector<Clock> clocks;
    for (const FourTimes& time :
         ReplayEngine(trace, FourPrices{cluster}, cluster, /*contended=*/false, nullptr).run()) {
      clocks.push_back(clock_of(time));
    }
    return clocks;
  }
  return contended_clocks(trace, cluster, {});
}

}  // namespace rankbox
