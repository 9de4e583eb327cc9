// `rankbox demo`: a tour of Rankbox in about half a minute.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Registers the subcommand. It exits with 1 if any part of the demo failed.
void add_demo(CLI::App& app);

}  // namespace rankbox::cli
