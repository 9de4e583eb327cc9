// The sandbox backend: ranks are threads or fibers.
#include <mutex>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/compare/measure/backend.h"
#include "cli/compare/plan/plan.h"
#include "comm/run_ranks.h"

namespace rankbox::cli {

const char* backend_name() { return "sim"; }

void prepare_process() {}

std::string backend_line() {
  return fmt::format("sim: ranks are threads or fibers of this process, on {} cores",
                     sysconf(_SC_NPROCESSORS_ONLN));
}

std::string world_line(int world_size) {
  return fmt::format("{} rank{} of this process", world_size, world_size == 1 ? "" : "s");
}

// One list for all ranks: a list on each would take memory quadratic in their number.
std::shared_ptr<const std::vector<Device>> devices_of(Comm& dist) {
  static std::mutex lock;
  static std::weak_ptr<const std::vector<Device>> of_world;
  const auto ranks = static_cast<std::size_t>(dist.world_size());
  const std::lock_guard guard(lock);
  auto devices = of_world.lock();
  if (devices == nullptr || devices->size() != ranks) {
    Device device = host_device();
    device.ranks = dist.world_size();
    devices = std::make_shared<const std::vector<Device>>(ranks, device);
    of_world = devices;
  }
  return devices;
}

int nodes_to_simulate(const Cluster& cluster, int world_size) {
  return cluster.nodes_for(world_size);
}

std::vector<int> default_ranks() { return {2, 4, 8}; }

void judge_contest(Contest& contest, const Plan& plan,
                   const std::function<void(std::size_t job)>& starting) {
  RunOptions options = run_options(plan, contest.front().row.world_size);
  options.trace = true;
  options.events_per_rank = 0;  // clocks and costs need no events
  options.without_data = plan.without_data;
  for (std::size_t i = 0; i < contest.size(); ++i) {
    Job& job = contest[i];
    Row& row = job.row;
    if (row.failure || !row.skipped.empty()) continue;
    starting(i);
    try {
      std::string skipped;
      const auto [wrong, report] = run_ranks(options, [&](Comm& dist) -> std::int64_t {
        const RankPart part = part_of(job, dist.rank());
        Buffers buffers = make_buffers(part);
        if (!plan.without_data) fill_input(buffers, part);
        try {
          call_once(job.algorithm, dist, buffers, job.settings);
        } catch (const UnevenNodes& error) {  // of every rank
          if (dist.rank() == 0) skipped = error.what();
          return 0;
        }
        return plan.without_data ? 0 : count_wrong(buffers, part);
      });
      row.skipped = skipped;
      if (!skipped.empty()) continue;
      row.cost = report.cost;
      row.virtual_seconds = report.virtual_seconds;
      if (!plan.without_data)
        row.wrong = std::accumulate(wrong.begin(), wrong.end(), std::int64_t{0});
      fail_if_wrong(row);
    } catch (const Error& error) {
      if (row.whose != Whose::kYours) rethrow_naming(error, row);
      row.failure = row_failure_of(error);
    }
  }
}

void set_timed(Comm& /*dist*/, bool /*timed*/) {}

void call_in_group(Comm& /*dist*/, const std::function<void()>& calls) { calls(); }

std::string default_cluster(int /*world_size*/) { return "laptop"; }

std::vector<Baseline> default_baselines(int /*world_size*/) { return {}; }

bool can_run_itself() { return true; }

}  // namespace rankbox::cli
