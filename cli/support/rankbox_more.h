// The program with all subcommands. `rankbox`, which is built first, has only those that a learner
// needs in the first hour, and hands over to it for the rest.
#pragma once

namespace rankbox::cli {

/// Makes use_rankbox_more() hand over. Without it, this is the program with all subcommands.
/// @param argv as main() got it; lives as long as the program
void hand_over_with(char** argv);

/// Replaces this process by rankbox-more with the same arguments, and does not return; in
/// rankbox-more, does nothing. The script `rankbox` builds it first if it is missing or older than
/// its sources. Blocks during the build. Throws CLI::RuntimeError if the script fails, which has
/// printed the reason.
void use_rankbox_more();

}  // namespace rankbox::cli
