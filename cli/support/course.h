// The option --course of several subcommands.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Adds --course DIR ($RANKBOX_COURSE): the command works on an instructor's exercises. It sets the
/// command's parse_complete_callback.
void add_course(CLI::App& command);

}  // namespace rankbox::cli
