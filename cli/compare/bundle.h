// A folder for measuring on another machine, without Bazel, a compiler or a checkout.
#pragma once

#include <string>
#include <vector>

#include "cli/compare/yours.h"

namespace rankbox::cli {

struct Bundle {
  std::string folder;                // created if missing
  std::string backend;               // "mpi" or "nccl"
  std::string program;               // rankbox-compare-BACKEND
  std::vector<std::string> options;  // of the plan
  std::vector<NamedFile> libraries;  // the learner's
};

/// Writes the program, the learner's libraries, run.sh with the usual ways to launch, and the
/// shared libraries that a bare system lacks. The other machine provides MPI's libraries and the
/// NVIDIA driver. Throws InvalidArgument for a folder that holds other files, Error if it cannot be
/// written.
void write_bundle(const Bundle& bundle);

}  // namespace rankbox::cli
