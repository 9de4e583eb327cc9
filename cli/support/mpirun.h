// Starts a program as several processes of this machine, with MPI's launcher.
//
// By default, mpirun refuses to run as root, and to start more ranks than there are cores. Both are
// allowed here. A rank that fails prints why in one line; mpirun adds nothing to it.
#pragma once

#include <string>
#include <vector>

namespace rankbox::cli {

/// Returns the command that runs `command` as `ranks` processes: for run_child() of
/// cli/support/child.h, or for run_attached(). Throws Error, which names the package to install, if
/// there is no mpirun in PATH. REQUIRES: ranks >= 1, and a command.
std::vector<std::string> mpirun_command(int ranks, const std::vector<std::string>& command);

/// Runs a launcher (or a program that needs none) with this process's output and an empty input.
/// Blocks until it has ended. Returns the exit status that a shell would show: 128 + signal where
/// one ended it.
///
/// The terminal's signals do not reach the launcher: mpirun would kill the ranks a second later.
/// The first SIGINT, SIGTERM or SIGHUP to this process is forwarded as SIGUSR1. mpirun passes that
/// on to its ranks, so that they can finish their step. The next signal is forwarded as SIGTERM,
/// which ends all. If this process is killed, the launcher and its ranks end, too. Throws Error if
/// it cannot be started. Call it from the main thread.
/// @param explained_by the command that explains the death of a rank, for the line that reports it
int run_attached(const std::vector<std::string>& words, const std::string& explained_by = "");

}  // namespace rankbox::cli
