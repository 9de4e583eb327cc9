#include "replay/clock.h"

#include <algorithm>

#include "replay/engine.h"
#include "replay/native_cost.h"

namespace rankbox {
namespace {

/// Four clocks that advance together: the cluster's, and one per coefficient.
struct FourTimes {
  double seconds = 0;
  double steps = 0;
  double bytes = 0;
  double reduced = 0;

  FourTimes& operator+=(const FourTimes& by) {
    seconds += by.seconds;
    steps += by.steps;
    bytes += by.bytes;
    reduced += by.reduced;
    return *this;
  }
};

struct FourPrices {
  using Time = FourTimes;
  const Cluster& cluster;

  static FourTimes later(const FourTimes& a, const FourTimes& b) {
    return {std::max(a.seconds, b.seconds), std::max(a.steps, b.steps), std::max(a.bytes, b.bytes),
            std::max(a.reduced, b.reduced)};
  }
  static double seconds(const FourTimes& time) { return time.seconds; }
  FourTimes message(bool same_node, double bytes) const {
    const Link& link = cluster.link(same_node);
    return {link.alpha + bytes * link.beta, 1, bytes, 0};
  }
  FourTimes reduction(double bytes) const { return {bytes * cluster.gamma, 0, 0, bytes}; }
  FourTimes compute(double seconds) const { return {seconds, 0, 0, 0}; }
  FourTimes native(const cost::NativeCall& call, const Cost& cost) const {
    return {cost::native_seconds(call, cluster), cost.steps, cost.bytes, cost.reduced};
  }
};

struct Seconds {
  using Time = double;
  const Cluster& cluster;

  static double later(double a, double b) { return std::max(a, b); }
  static double seconds(double time) { return time; }
  double message(bool same_node, double bytes) const {
    return cluster.link(same_node).alpha + bytes * cluster.link(same_node).beta;
  }
  double reduction(double bytes) const { return bytes * cluster.gamma; }
  double compute(double seconds) const { return seconds; }
  double native(const cost::NativeCall& call, const Cost& /*cost*/) const {
    return cost::native_seconds(call, cluster);
  }
};

/// A clock that counts the steps, the bytes or the reduced bytes: the one that is 1 in `counted`.
struct Coefficient {
  using Time = double;
  Cost counted;

  static double later(double a, double b) { return std::max(a, b); }
  static double seconds(double time) { return time; }
  double message(bool /*same_node*/, double bytes) const {
    return counted.steps + bytes * counted.bytes;
  }
  double reduction(double bytes) const { return bytes * counted.reduced; }
  double compute(double /*seconds*/) const { return 0; }
  double native(const cost::NativeCall& /*call*/, const Cost& cost) const {
    return cost.steps * counted.steps + cost.bytes * counted.bytes + cost.reduced * counted.reduced;
  }
};

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
  std::vector<Clock> clocks(trace.ranks.size());
  if (!is_contended(trace)) {
    const std::vector<FourTimes> times =
        ReplayEngine(trace, FourPrices{cluster}, cluster, /*contended=*/false, nullptr).run();
    for (std::size_t rank = 0; rank < clocks.size(); ++rank) {
      const FourTimes& time = times[rank];
      clocks[rank] = {time.seconds, {time.steps, time.bytes, time.reduced}};
    }
    return clocks;
  }
  const auto count = [&](const Cost& counted) {
    return ReplayEngine(trace, Coefficient{counted}, cluster, /*contended=*/true, nullptr).run();
  };
  const auto seconds = replay_trace(trace, cluster).clocks;
  const auto steps = count({1, 0, 0});
  const auto bytes = count({0, 1, 0});
  const auto reduced = count({0, 0, 1});
  for (std::size_t rank = 0; rank < clocks.size(); ++rank) {
    clocks[rank] = {seconds[rank], {steps[rank], bytes[rank], reduced[rank]}};
  }
  return clocks;
}

}  // namespace rankbox
