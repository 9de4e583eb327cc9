// A folder that measures on another machine, without Bazel, a compiler or a checkout.
#pragma once

#include <string>
#include <vector>

#include "cli/compare/yours.h"

namespace rankbox::cli {

struct Bundle {
  std::string folder;                // made if it is not there
  std::string backend;               // "mpi" or "nccl"
  std::string program;               // rankbox-compare-BACKEND
  std::vector<std::string> options;  // of the plan
  int ranks = 2;                     // of MPI, the default of run.sh
  std::vector<Mine> libraries;       // of the learner's
};

/// Leaves there: the program, the learner's libraries, the shared libraries that a bare system does
/// not have, and run.sh with the usual ways to launch. MPI's own libraries and the NVIDIA driver must
/// be that machine's.
/// Throws InvalidArgument for a folder that holds other files, Error if it cannot be written.
void write_bundle(const Bundle& bundle);

}  // namespace rankbox::cli
