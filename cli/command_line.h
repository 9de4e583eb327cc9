// What the programs `rankbox` and `rankbox-more` share: they differ in their subcommands alone.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Runs the subcommand that the command line names; without one, prints where the learner is.
/// Returns the exit code: 2 for a user error, 130 for Ctrl-C, 1 for a failed check or any other
/// failure. Every error is one line on stderr.
/// @param add_subcommands in the order of the help
int run_command_line(int argc, char** argv, void (*add_subcommands)(CLI::App&));

/// Registers a subcommand that only rankbox-more has.
/// @param description as there, where the options are
void add_elsewhere(CLI::App& app, const char* name, const char* description);

}  // namespace rankbox::cli
