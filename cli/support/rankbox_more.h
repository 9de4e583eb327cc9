// The program with all subcommands. `rankbox`, which is built first, has only those that a learner
// needs in the first hour, and hands over to it for the rest.
#pragma once

namespace rankbox::cli {

/// Makes use_rankbox_more() hand over. Without it, this is the program with all subcommands.
/// @param argv as main() got it; lives as long as the program
void hand_over_with(char** argv);

/// In `rankbox`: replaces this process by rankbox-more with the same arguments, and does not return.
/// The script `rankbox` builds it if it is missing or older than its sources; blocks during the
/// build, whose name and time the script prints. Throws CLI::RuntimeError if the script fails.
/// In rankbox-more: does nothing.
void use_rankbox_more();

}  // namespace rankbox::cli
