#include "sim/run_world.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "sim/clock.h"
#include "sim/pending_operation.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

/// Negative, infinite and NaN prices would stop clocks, or turn them back.
void check(const Cluster& cluster) {
  const std::pair<const char*, double> prices[] = {
      {"alpha within a node", cluster.within_node.alpha},
      {"beta within a node", cluster.within_node.beta},
      {"alpha between nodes", cluster.between_nodes.alpha},
      {"beta between nodes", cluster.between_nodes.beta},
      {"gamma", cluster.gamma}};
  for (const auto& [name, price] : prices) {
    if (!(price >= 0) || std::isinf(price)) {
      throw InvalidArgument(
          fmt::format("the cluster's {} is {}: seconds, 0 or more, are needed", name, price));
    }
  }
}

void check(const Fault& fault, int world_size) {
  if (fault.rank < 0 || fault.rank >= world_size) {
    throw InvalidArgument(fmt::format("a fault is planned for rank {}, but ranks are 0 to {}",
                                      fault.rank, world_size - 1));
  }
  if (fault.operation < 0) {
    throw InvalidArgument(
        fmt::format("a fault is planned before operation {}: the first is 0", fault.operation));
  }
  if (!(fault.seconds >= 0) || std::isinf(fault.seconds)) {
    throw InvalidArgument(
        fmt::format("a fault is planned to last {} s: 0 or more are needed", fault.seconds));
  }
}

}  // namespace

void check_options(const RunOptions& options) {
  if (options.world_size < 1) {
    throw InvalidArgument(
        fmt::format("world size {} is impossible: at least 1 rank is needed", options.world_size));
  }
  if (options.nodes < 1 || options.nodes > options.world_size) {
    throw InvalidArgument(fmt::format("{} nodes cannot share {} ranks: 1 to {} nodes are possible",
                                      options.nodes, options.world_size, options.world_size));
  }
  check_world_size(options.executor, options.world_size);
  check(options.cluster);
  for (const Fault& fault : options.faults) check(fault, options.world_size);
}

namespace {

/// The failure of one rank as run_ranks throws it: Rankbox errors as they are, all others inside
/// RankFailed.
std::exception_ptr with_rank(std::exception_ptr failure, int rank) {
  try {
    try {
      std::rethrow_exception(failure);
    } catch (Error& error) {
      if (error.rank() < 0) error.attribute_to(rank);
      return failure;
    } catch (const std::exception& error) {
      std::throw_with_nested(
          RankFailed(fmt::format("rank {} failed: {}", rank, error.what()), {rank, "", -1, "", 0}));
    } catch (...) {
      std::throw_with_nested(RankFailed(
          fmt::format("rank {} failed with an exception that is not a std::exception", rank),
          {rank, "", -1, "", 0}));
    }
  } catch (...) {
    return std::current_exception();
  }
}

/// One rank's life.
void run_rank(World& world, RankState& rank, const std::function<void(Communicator&)>& body) {
  RankState* const outer_rank = std::exchange(current_rank(), &rank);
  MemoryMeter* const outer_meter = std::exchange(current_memory_meter(), &rank.memory);
  try {
    Communicator dist(rank, world.world_group(), rank.rank);
    body(dist);
  } catch (...) {
    rank.failure = with_rank(std::current_exception(), rank.rank);
    world.stop(rank.failure);
  }
  drop_open_requests(rank);
  current_memory_meter() = outer_meter;
  current_rank() = outer_rank;
  world.leave(rank);
}

RunReport report_on(World& world, TickClock& clock) {
  const RunOptions& options = world.options();
  clock.stop();
  RunReport report;
  report.wall_seconds = clock.elapsed_seconds();
  for (int r = 0; r < options.world_size; ++r) {
    const RankState& rank = world.rank(r);
    report.messages += rank.messages;
    report.bytes += rank.bytes;
    report.peak_bytes.push_back(rank.memory.peak_bytes);
  }
  if (!options.trace) return report;
  report.trace = world.take_trace(clock);
  report.clocks = measure_clocks(report.trace, options.cluster);
  for (const Clock& rank : report.clocks) {
    report.virtual_seconds = std::max(report.virtual_seconds, rank.seconds);
    report.cost.steps = std::max(report.cost.steps, rank.cost.steps);
    report.cost.bytes = std::max(report.cost.bytes, rank.cost.bytes);
    report.cost.reduced = std::max(report.cost.reduced, rank.cost.reduced);
  }
  return report;
}

}  // namespace

void run_world(const RunOptions& options, const std::function<void(Communicator&)>& body,
               RunReport* report) {
  check_options(options);
  World world(options);
  TickClock clock;
  world.executor().run([&](int rank) { run_rank(world, world.rank(rank), body); });
  *report = report_on(world, clock);
  if (const std::exception_ptr failure = world.verdict()) std::rethrow_exception(failure);
}

}  // namespace rankbox::sim
