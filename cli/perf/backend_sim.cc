// The sandbox: ranks are threads.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/perf/backend.h"
#include "cli/perf/host_device.h"

namespace rankbox::perf {

const char* backend_name() { return "sim"; }

void prepare_process() {}

std::string backend_line() {
  return fmt::format("sim: ranks are threads of this process, on {} cores",
                     sysconf(_SC_NPROCESSORS_ONLN));
}

std::string world_line(int world_size) {
  return fmt::format("{} rank{}, threads of this process", world_size, world_size == 1 ? "" : "s");
}

int nccl_version() { return 0; }

Device device_here(const Comm& /*dist*/) { return host_device(); }

int nodes_to_imagine(const Cluster& cluster, int world_size) {
  return cluster.nodes_for(world_size);
}

std::vector<Baseline> default_baselines(int /*world_size*/) { return {}; }

bool can_run_itself() { return true; }

int run_processes(int processes, const std::vector<std::string>& /*command*/) {
  throw InvalidArgument(
      fmt::format("--processes: ranks are threads here, write -g {0} for {0} of them", processes));
}

}  // namespace rankbox::perf
