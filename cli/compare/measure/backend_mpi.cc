// The MPI backend: ranks are the processes that mpirun started.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>
#include <mpi.h>

#include "cli/compare/measure/backend.h"

namespace rankbox::cli {

const char* backend_name() { return "mpi"; }

void prepare_process() {}

std::string backend_line() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  // May be called before MPI_Init.
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) length = 0;
  std::string version(text.data(), static_cast<std::size_t>(length));
  version.resize(std::min(version.find_first_of(",\n"), version.size()));  // the rest is long
  return fmt::format("mpi: ranks are processes, {}", version);
}

std::string world_line(int world_size) {
  return fmt::format("{} rank{}, a process each", world_size, world_size == 1 ? "" : "s");
}

std::shared_ptr<const std::vector<Device>> devices_of(Comm& dist) {
  return std::make_shared<const std::vector<Device>>(gather_devices(dist, host_device()));
}

int nodes_to_simulate(const Cluster& /*cluster*/, int /*world_size*/) { return 1; }

// mpirun sets the number of ranks (launch()).
std::vector<int> default_ranks() { return {1}; }

void judge_contest(Contest& /*contest*/, const Plan& /*plan*/,
                   const std::function<void(std::size_t job)>& /*starting*/) {}

void set_timed(Comm& dist, bool timed) {
  auto backend = dist.backend();
  backend.set_timed(timed);
}

void call_in_group(Comm& /*dist*/, const std::function<void()>& calls) { calls(); }

std::string default_cluster(int /*world_size*/) { return "laptop"; }

std::vector<Baseline> default_baselines(int /*world_size*/) { return {}; }

// A process that mpirun started can call MPI_Init once; its children cannot.
bool can_run_itself() { return false; }

}  // namespace rankbox::cli
