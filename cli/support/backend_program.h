// The programs that a subcommand starts for MPI and NCCL: `rankbox-run-mpi`, …
#pragma once

#include <string>

namespace rankbox::cli {

/// The path of rankbox-SUBCOMMAND-BACKEND, which the script `rankbox` builds if it is missing or
/// older than its sources; the packages that it needs are installed before.
/// Blocks while it is built; the script prints that.
/// Throws CLI::RuntimeError if the script fails. The script has then printed why in one line: a
/// library is missing, or (with nccl) there is no driver here.
/// @param for_another_machine needs no driver here
std::string backend_program(const std::string& subcommand, const std::string& backend,
                            bool for_another_machine = false);

}  // namespace rankbox::cli
