#include "sim/run_world.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/option_checks.h"
#include "comm/rank_failure.h"
#include "sim/clock/clock.h"
#include "sim/clock/stream_order.h"
#include "sim/message/channel_table.h"
#include "sim/pending_operation.h"
#include "sim/without_data.h"
#include "sim/world.h"

namespace rankbox::sim {

void check_options(const RunOptions& options) {
  check_run_options(options);
  if (options.world_size > ChannelTable::kMostRanks) {
    throw InvalidArgument(fmt::format("world size {}: there may be at most {} ranks; choose fewer",
                                      options.world_size, ChannelTable::kMostRanks));
  }
  check_world_size(options.executor, options.world_size);
}

namespace {

/// Runs one rank from start to end.
void run_rank(World& world, RankState& rank, const std::function<void(Communicator&)>& body) {
  RankState* const outer_rank = std::exchange(current_rank(), &rank);
  MemoryMeter* const outer_meter = std::exchange(current_memory_meter(), &rank.memory);
  DataPlane* const data_plane = world.data_plane();
  if (world.options().executor == ExecutorKind::kThreads) rank.thread = __builtin_thread_pointer();
  try {
    if (data_plane != nullptr) data_plane->enter(rank.rank);
    Communicator dist(Backend(rank, world.world_group(), rank.rank));
    body(dist);
  } catch (...) {
    rank.failure = with_rank(std::current_exception(), rank.rank);
    world.stop(rank.failure);
  }
  drop_open_requests(rank);
  try {
    rank.recorder.hand_over_last();
  } catch (...) {  // out of memory
    if (rank.failure == nullptr) rank.failure = with_rank(std::current_exception(), rank.rank);
    world.stop(rank.failure);
  }
  if (data_plane != nullptr) data_plane->leave(rank.rank);
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
  GrowingReplay* const replay = world.replay();
  report.clocks =
      replay == nullptr ? measure_clocks(report.trace, options.cluster) : replay->finish();
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
               RunReport* report, DataPlane* data_plane) {
  sim::check_options(options);
  WithoutData nothing_moves;
  if (options.without_data && data_plane == nullptr) data_plane = &nothing_moves;
  World world(options, data_plane);
  TickClock clock;
  world.executor().run([&](int rank) { run_rank(world, world.rank(rank), body); });
  *report = report_on(world, clock);
  if (const std::exception_ptr failure = world.verdict()) std::rethrow_exception(failure);
  if (options.order == MessageOrder::kAny) return;
  if (const auto hang = find_stream_hang(report->trace)) throw error_of(*hang);
}

}  // namespace rankbox::sim
