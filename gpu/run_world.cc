// The GPU implementation of comm/run_ranks.h.
//
// RunOptions::buffering, seed and the trace, with all results derived from it, are the sandbox's.
// They apply if ranks share GPUs, and have no effect over NCCL. `nodes` applies to the sandbox and
// to ranks that are threads; processes have their real nodes. Ranks are never fibers.
#include "sim/run_world.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <tuple>

#include <fmt/format.h>

#include "comm/option_checks.h"
#include "comm/rank_failure.h"
#include "comm/run_ranks.h"
#include "gpu/device/devices.h"
#include "gpu/device_here.h"
#include "gpu/launch/rank_variables.h"
#include "gpu/nccl/failure.h"
#include "gpu/nccl/run.h"
#include "gpu/processes.h"
#include "gpu/run_mode.h"
#include "gpu/shared/plane.h"

namespace rankbox {
namespace gpu {
namespace {

using Body = std::function<void(Comm&)>;

// ---- Threads that share GPUs -----------------------------------------------------------------

void run_shared(const RunOptions& options, const Body& body, RunReport* report) {
  note_sharing(options.world_size);
  SharedPlane plane(assign_devices(options.world_size), options.deadline_seconds);
  sim::run_world(
      options,
      [&](sim::Communicator& sandbox) {
        Communicator dist(Backend(SharedBackend(sandbox.backend())));
        body(dist);
      },
      report, &plane);
}

// ---- Threads over NCCL -------------------------------------------------------------------------

/// Returns RANKBOX_START_SECONDS if it is set, otherwise options.start_seconds.
double start_seconds_of(const RunOptions& options) {
  const auto named = launcher::number_in(launcher::process_environment(), "RANKBOX_START_SECONDS",
                                         1, 24 * 60 * 60);
  return named ? *named : options.start_seconds;
}

NcclSettings settings_for(const RunOptions& options) {
  NcclSettings settings;
  settings.world_size = options.world_size;
  settings.deadline_seconds = options.deadline_seconds;
  settings.start_seconds = start_seconds_of(options);
  settings.blocking_calls = options.blocking_calls;
  return settings;
}

void run_threads(const RunOptions& options, const Body& body, RunReport* report) {
  NcclSettings settings = settings_for(options);
  for (std::int64_t rank = 0; rank < options.world_size; ++rank)
    settings.nodes.push_back(static_cast<int>(rank * options.nodes / options.world_size));
  const int devices = devices_used(options.world_size);
  settings.ranks_per_gpu = (options.world_size + devices - 1) / devices;
  NcclWorld world(settings);
  const NcclOutcome outcome = run_on_nccl(world, assign_devices(options.world_size), body);
  *report = outcome.report;
  if (const std::exception_ptr failure =
          failure_of(outcome.ends, options.world_size, world.cause()))
    std::rethrow_exception(failure);
}

// ---- Processes ----------------------------------------------------------------------------------

/// Reused from run to run.
Processes& processes(double seconds) {
  static Processes all(seconds);
  return all;
}

std::string new_id() {
  const ncclUniqueId id = NcclWorld::make_id();
  return std::string(id.internal, sizeof(id.internal));
}

/// Runs this process's rank, and returns its end, with the rank's failure if it failed.
RankEnd run_member(const Processes& all, const RunOptions& options, const std::string& id,
                   const Body& body, RunReport* report) {
  try {
    NcclSettings settings = settings_for(options);
    settings.local_ranks = {all.rank()};
    settings.nodes = all.nodes(options.world_size);
    settings.ranks_per_gpu = all.sharers(options.world_size);
    settings.id.emplace();
    std::memcpy(settings.id->internal, id.data(), std::min(id.size(), sizeof(ncclUniqueId)));
    NcclWorld world(settings);
    const NcclOutcome outcome = run_on_nccl(world, {all.device()}, body);
    *report = outcome.report;
    return outcome.ends.front();
  } catch (...) {
    return {.rank = all.rank(), .failure = with_rank(std::current_exception(), all.rank())};
  }
}

void run_processes(const RunOptions& options, const Body& body, RunReport* report) {
  // A process's report of its run, and its rank's end.
  using End = std::tuple<double, std::int64_t, std::int64_t, std::int64_t, std::string>;
  const double start_seconds = start_seconds_of(options);
  Processes& all = processes(start_seconds);
  const std::string id = all.start_run(options.world_size, new_id, start_seconds);
  RunReport mine;
  RankEnd end = {.rank = all.rank()};
  if (all.rank() < options.world_size) end = run_member(all, options, id, body, &mine);
  const std::int64_t peak_bytes = mine.peak_bytes.empty() ? 0 : mine.peak_bytes.front();
  const auto reported = all.end_run(to_bytes(End(mine.wall_seconds, mine.messages, mine.bytes,
                                                 peak_bytes, rank_end_to_bytes(end))),
                                    end.failure != nullptr, options.deadline_seconds);
  *report = {};
  std::vector<RankEnd> ends;
  for (int rank = 0; rank < options.world_size; ++rank) {
    const auto& bytes = reported.bytes[static_cast<std::size_t>(rank)];
    if (!bytes) continue;
    const auto [wall_seconds, messages, its_bytes, its_peak, end_bytes] = from_bytes<End>(*bytes);
    report->wall_seconds = std::max(report->wall_seconds, wall_seconds);
    report->messages += messages;
    report->bytes += its_bytes;
    report->peak_bytes.push_back(its_peak);
    // This process's own exception needs no serialization.
    ends.push_back(rank == all.rank() ? end : rank_end_from_bytes(end_bytes));
  }
  if (const std::exception_ptr failure =
          failure_of(ends, options.world_size, nullptr, reported.problem))
    std::rethrow_exception(failure);
}

}  // namespace
}  // namespace gpu

std::string why_no_ranks() { return gpu::why_no_device(); }

Launch launch() {
  const auto& who = launcher::launched();
  return who ? Launch{who->world_size, who->rank} : Launch{};
}

void check_options(const RunOptions& options) {
  check_run_options(options);
  refuse_sandbox_options(options);
  if (gpu::choose_mode(options.world_size) != gpu::RunMode::kProcesses) return;
  const auto& who = launcher::launched();
  if (options.world_size > who->world_size) {
    throw InvalidArgument(fmt::format(
        "a world of {} ranks needs as many processes, and {} started {}: have it start {}",
        options.world_size, who->launcher, who->world_size, options.world_size));
  }
}

void run_world(const RunOptions& options, const std::function<void(Comm&)>& body,
               RunReport* report) {
  check_options(options);
  // Ranks may use tensors that this thread has created so far.
  if (gpu::current_rank_device() != nullptr) gpu::wait_here({.op = "run_ranks"});
  switch (gpu::choose_mode(options.world_size)) {
    case gpu::RunMode::kProcesses:
      return gpu::run_processes(options, body, report);
    case gpu::RunMode::kThreads:
      return gpu::run_threads(options, body, report);
    case gpu::RunMode::kShared:
      return gpu::run_shared(options, body, report);
  }
}

std::vector<std::string> gather_from_processes(int world_size, std::string mine) {
  if (!launcher::launched()) return {std::move(mine)};
  std::vector<std::string> all =
      gpu::processes(gpu::start_seconds_of({})).exchange(mine, gpu::kAnyTime);
  all.resize(static_cast<std::size_t>(world_size));
  return all;
}

}  // namespace rankbox
