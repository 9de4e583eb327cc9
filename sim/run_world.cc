// run_ranks in the sandbox: make a world, run the ranks, join them, and say how it went.
#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/run_ranks.h"
#include "sim/clock.h"
#include "sim/pending_operation.h"
#include "sim/world.h"

namespace rankbox {
namespace {

void check(const RunOptions& options) {
  if (options.world_size < 1) {
    throw InvalidArgument(
        fmt::format("world size {} is impossible: at least 1 rank is needed", options.world_size));
  }
  if (options.nodes < 1 || options.nodes > options.world_size) {
    throw InvalidArgument(fmt::format("{} nodes cannot share {} ranks: 1 to {} nodes are possible",
                                      options.nodes, options.world_size, options.world_size));
  }
  for (const Fault& fault : options.faults) {
    if (fault.rank < 0 || fault.rank >= options.world_size) {
      throw InvalidArgument(fmt::format("a fault is planned for rank {}, but ranks are 0 to {}",
                                        fault.rank, options.world_size - 1));
    }
  }
}

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
void run_rank(sim::World& world, sim::RankState& rank, const std::function<void(Comm&)>& body) {
  sim::RankState* const outer_rank = std::exchange(sim::current_rank(), &rank);
  MemoryMeter* const outer_meter = std::exchange(current_memory_meter(), &rank.memory);
  try {
    Comm dist(rank, world.world_group(), rank.rank);
    body(dist);
  } catch (...) {
    rank.failure = with_rank(std::current_exception(), rank.rank);
    world.stop(rank.failure);
  }
  sim::drop_open_requests(rank);
  current_memory_meter() = outer_meter;
  sim::current_rank() = outer_rank;
  world.leave(rank);
}

RunReport report_on(sim::World& world, sim::TickClock& clock) {
  const RunOptions& options = world.options();
  clock.stop();
  RunReport report;
  report.wall_seconds = clock.elapsed_seconds();
  for (int r = 0; r < options.world_size; ++r) {
    const sim::RankState& rank = world.rank(r);
    report.messages += rank.messages;
    report.bytes += rank.bytes;
    report.peak_bytes.push_back(rank.memory.peak_bytes);
  }
  if (!options.trace) return report;
  report.trace = world.take_trace(clock);
  report.clocks = sim::measure_clocks(report.trace, options.cluster);
  for (const Clock& rank : report.clocks) {
    report.virtual_seconds = std::max(report.virtual_seconds, rank.seconds);
    report.cost.steps = std::max(report.cost.steps, rank.cost.steps);
    report.cost.bytes = std::max(report.cost.bytes, rank.cost.bytes);
    report.cost.reduced = std::max(report.cost.reduced, rank.cost.reduced);
  }
  return report;
}

}  // namespace

RunReport run_world(const RunOptions& options, const std::function<void(Comm&)>& body) {
  RunReport report;
  run_world(options, body, &report);
  return report;
}

void run_world(const RunOptions& options, const std::function<void(Comm&)>& body,
               RunReport* report) {
  check(options);
  sim::World world(options);
  sim::TickClock clock;
  world.executor().run([&](int rank) { run_rank(world, world.rank(rank), body); });
  *report = report_on(world, clock);
  if (const std::exception_ptr failure = world.verdict()) std::rethrow_exception(failure);
}

}  // namespace rankbox
