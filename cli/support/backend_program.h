// The programs that a subcommand starts for MPI and NCCL: `rankbox-run-mpi`, …
#pragma once

#include <string>

namespace rankbox::cli {

/// Returns the path of rankbox-SUBCOMMAND-BACKEND. The script `rankbox` builds it if it is missing
/// or older than its sources, and installs the required packages first. Blocks during the build;
/// the script prints that. Throws CLI::RuntimeError if the script fails. The script has then
/// printed the reason in one line: a library is missing, or (with nccl) there is no driver here.
/// @param for_another_machine needs no driver here
std::string backend_program(const std::string& subcommand, const std::string& backend,
                            bool for_another_machine = false);

}  // namespace rankbox::cli
