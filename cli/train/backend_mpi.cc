// The MPI backend: ranks are the processes that mpirun started.
#include <fmt/format.h>

#include "cli/train/backend.h"
#include "comm/errors.h"

namespace rankbox::train {

const char* backend_name() { return "mpi"; }

std::string what_ranks_are(int /*ranks*/) { return "a process each"; }

void place(const Placement& typed, Plan& /*plan*/) {
  if (!typed.nodes.empty()) {
    throw InvalidArgument(
        fmt::format("--nodes {}: with MPI, mpirun places the processes; name the machines there: "
                    "mpirun --host one:4,two:4 rankbox-train-mpi ...",
                    typed.nodes));
  }
  if (!typed.cluster.empty()) {
    throw InvalidArgument(
        fmt::format("--cluster {}: with MPI, time is real; only the sandbox simulates clusters: "
                    "leave out --backend mpi",
                    typed.cluster));
  }
}

bool has_timeline() { return false; }

std::string draw_step(const Plan& /*plan*/, const Task& /*task*/,
                      const TimelineOptions& /*options*/) {
  return "";
}

}  // namespace rankbox::train
