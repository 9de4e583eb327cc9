#include "replay/clock.h"

#include <algorithm>

#include "replay/engine.h"

namespace rankbox {
namespace {

Prices only(double alpha, double beta, double gamma) {
  return {
      .within_node = {alpha, beta}, .between_nodes = {alpha, beta}, .gamma = gamma, .compute = 0};
}

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
  Prices cluster;

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
  FourTimes native(bool same_node, const Cost& cost, const Cost& wire) const {
    return {cluster.price_of_native(same_node, cost, wire), cost.steps, cost.bytes, cost.reduced};
  }
};

struct OnePrice {
  using Time = double;
  Prices prices;

  static double later(double a, double b) { return std::max(a, b); }
  static double seconds(double time) { return time; }
  double message(bool same_node, double bytes) const {
    return prices.link(same_node).alpha + bytes * prices.link(same_node).beta;
  }
  double reduction(double bytes) const { return bytes * prices.gamma; }
  double compute(double seconds) const { return seconds * prices.compute; }
  double native(bool same_node, const Cost& cost, const Cost& wire) const {
    return prices.price_of_native(same_node, cost, wire);
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

Prices prices_of(const Cluster& cluster) {
  return {.within_node = cluster.within_node,
          .between_nodes = cluster.between_nodes,
          .gamma = cluster.gamma,
          .native = cluster.native};
}

Replay replay_trace(const Trace& trace, const Prices& prices, const Cluster& chooser) {
  Replay result;
  for (const std::vector<Event>& events : trace.ranks) result.spans.emplace_back(events.size());
  result.clocks =
      ReplayEngine(trace, OnePrice{prices}, chooser, is_contended(trace), &result.spans).run();
  return result;
}

Replay replay_trace(const Trace& trace, const Cluster& cluster) {
  return replay_trace(trace, prices_of(cluster), cluster);
}

std::vector<Clock> measure_clocks(const Trace& trace, const Cluster& cluster) {
  std::vector<Clock> clocks(trace.ranks.size());
  if (!is_contended(trace)) {
    const std::vector<FourTimes> times =
        ReplayEngine(trace, FourPrices{prices_of(cluster)}, cluster, /*contended=*/false, nullptr)
            .run();
    for (std::size_t rank = 0; rank < clocks.size(); ++rank) {
      const FourTimes& time = times[rank];
      clocks[rank] = {time.seconds, {time.steps, time.bytes, time.reduced}};
    }
    return clocks;
  }
  const auto seconds = replay_trace(trace, cluster).clocks;
  const auto steps = replay_trace(trace, only(1, 0, 0), cluster).clocks;
  const auto bytes = replay_trace(trace, only(0, 1, 0), cluster).clocks;
  const auto reduced = replay_trace(trace, only(0, 0, 1), cluster).clocks;
  for (std::size_t rank = 0; rank < clocks.size(); ++rank) {
    clocks[rank] = {seconds[rank], {steps[rank], bytes[rank], reduced[rank]}};
  }
  return clocks;
}

}  // namespace rankbox
