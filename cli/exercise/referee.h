// The subcommand `referee`, for internal use: judges a compiled exercise whose ranks run as
// processes of their own.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_referee(CLI::App& app);

}  // namespace rankbox::cli
