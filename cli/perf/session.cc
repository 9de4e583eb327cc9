#include "cli/perf/session.h"

#include <algorithm>
#include <atomic>
#include <exception>

#include <fmt/format.h>

#include "cli/child.h"
#include "cli/compare/lists.h"
#include "cli/perf/backend.h"
#include "cli/perf/measure.h"
#include "comm/run_ranks.h"

namespace rankbox::perf {
namespace {

[[noreturn]] void rethrow_naming(const Error& error, const Row& row) {
  const std::string message =
      fmt::format("{} ({}) on {} ranks, {}: {}", name_of(row.collective), row.algorithm,
                  row.world_size, cli::format_bytes(row.bytes), error.what());
  // What the user can mend stays what the user can mend.
  if (dynamic_cast<const InvalidArgument*>(&error) != nullptr) {
    throw InvalidArgument(message, error.context());
  }
  throw Error(message, error.context());
}

std::int64_t largest_bytes(const std::vector<Job>& jobs) {
  std::int64_t largest = 0;
  for (const Job& job : jobs) largest = std::max(largest, job.row.bytes);
  return largest;
}

/// Tells the listener. What that throws is rank 0's to throw; all others are told to go home, before
/// they wait for it in a collective that cannot be called off.
bool starts(Comm& dist, const Listener& listener, const std::vector<Device>& devices) {
  std::exception_ptr refusal;
  try {
    if (dist.rank() == 0 && listener.on_start) listener.on_start(devices);
  } catch (...) {
    refusal = std::current_exception();
  }
  auto go = full<std::int32_t>({1}, refusal == nullptr ? 1 : 0);
  dist.broadcast(go, 0);
  const bool goes = to_host(go).front() == 1;
  if (refusal != nullptr) std::rethrow_exception(refusal);
  return goes;
}

}  // namespace

int world_size_of(const Plan& plan) {
  const int here = plan.threads * plan.gpus_per_thread;
  const int processes = launch().processes;
  if (processes == 0) return here;
  if (here > 1) {
    throw InvalidArgument(fmt::format(
        "-t {} -g {}: a launcher has started {} processes, which are one rank each; leave out -t "
        "and -g, and have it start more",
        plan.threads, plan.gpus_per_thread, processes));
  }
  return processes;
}

void run_session(const Plan& plan, const std::vector<Job>& jobs, int world_size,
                 const Listener& listener) {
  RunOptions options;
  options.world_size = world_size;
  options.nodes = nodes_to_imagine(plan.cluster, world_size);
  options.cluster = plan.cluster;
  options.deadline_seconds = plan.deadline_seconds;
  // They would be measured too.
  options.check_collectives = false;
  options.trace = false;

  const Job* now = nullptr;  // written by rank 0, read when all have ended
  std::atomic<bool> has_started = false;
  try {
    run_ranks(options, [&](Comm& dist) {
      has_started = true;
      const bool tells = dist.rank() == 0;
      const std::vector<Device> devices = gather_devices(dist, device_here(dist));
      check_memory(devices, largest_bytes(jobs));
      if (!starts(dist, listener, devices)) return;
      NativeTimes native;
      for (std::size_t number = 0; number < jobs.size(); ++number) {
        if (tells) now = &jobs[number];
        if (tells && listener.on_job) listener.on_job(number, jobs[number]);
        Row row = measure(dist, jobs[number], plan);
        native.compare(row);
        if (tells && listener.on_row) listener.on_row(row);
      }
    });
  } catch (const Error& error) {
    cli::InterruptGuard::check();  // that is why, then
    if (now != nullptr) rethrow_naming(error, now->row);
    if (has_started || dynamic_cast<const InvalidArgument*>(&error) != nullptr) throw;
    throw CannotStart(error.what(), error.context());
  }
}

void NativeTimes::compare(Row& row) {
  if (row.algorithm == "native") native_.push_back(row);
  for (const Row& native : native_) {
    if (native.collective == row.collective && native.op == row.op &&
        native.elements == row.elements) {
      row.vs_native = row.seconds / native.seconds;
    }
  }
}

}  // namespace rankbox::perf
