// A cluster whose costs are powers of two: sums are exact, and comparable with ==.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/sim/on_executor.h"

namespace rankbox::testing {

constexpr double kAlpha = 1024;
constexpr double kBeta = 1;
constexpr double kGamma = 0.25;

inline Cluster round_cluster() {
  return {"round", {kAlpha, kBeta}, {4 * kAlpha, 8 * kBeta}, kGamma, 0};
}

inline RunOptions world_of(int world_size, int nodes = 1) {
  return {.world_size = world_size, .nodes = nodes, .cluster = round_cluster()};
}

inline RunReport report_of(const RunOptions& options, const std::function<void(Comm&)>& body) {
  return run_world(options, body);
}

inline std::vector<double> seconds_of(const RunReport& report) {
  std::vector<double> seconds;
  for (const Clock& clock : report.clocks) seconds.push_back(clock.seconds);
  return seconds;
}

inline void pass(Comm& dist, int from, int to, std::int64_t count) {
  Tensor tensor = zeros(count);
  if (dist.rank() == from) dist.send(tensor, to);
  if (dist.rank() == to) dist.recv(tensor, from);
}

}  // namespace rankbox::testing
