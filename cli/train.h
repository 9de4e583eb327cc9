// `rankbox train`: hands over to a program of its own, which is built per backend.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Registers the subcommand. It replaces this process by the script `rankbox`, which builds
/// //cli/train:rankbox-train if need be and runs it.
void add_train(CLI::App& app);

}  // namespace rankbox::cli
