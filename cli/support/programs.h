// Programs that are built when they are first needed: `rankbox-more`, `rankbox-run-mpi`, …
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace rankbox::cli {

/// Throws InvalidArgument unless `backend` is "sim", "mpi" or "nccl".
void check_backend(const std::string& backend);

/// Returns the path of rankbox-SUBCOMMAND-BACKEND. The script `rankbox` builds it if it is missing
/// or older than its sources, and installs the required packages first. Blocks during the build;
/// the script prints that. Throws CLI::RuntimeError if the script fails, which has then printed the
/// reason in one line: where a library is missing, too, or (with nccl) there is no driver.
/// @param for_another_machine needs no driver here
std::string backend_program(const std::string& subcommand, const std::string& backend,
                            bool for_another_machine = false);

/// Makes use_rankbox_more() hand over. Without it, this is the program with all subcommands.
/// @param argv as main() got it; lives as long as the program
void hand_over_with(char** argv);

/// Replaces this process by rankbox-more with the same arguments, and does not return; in
/// rankbox-more, does nothing. The script `rankbox` builds it first if it is missing or older than
/// its sources. Blocks during the build. Throws CLI::RuntimeError if the script fails, which has
/// printed the reason.
/// @param before called before that, since destructors are not: it removes temporary files
void use_rankbox_more(const std::function<void()>& before = {});

}  // namespace rankbox::cli
