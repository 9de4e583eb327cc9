// `rankbox train`: starts a separate program, which is built per backend.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Registers the subcommand. It checks and compiles the learner's files that the run is made of,
/// and starts the backend's program. Where that is not built yet it calls the script `rankbox`,
/// which builds it.
void add_train(CLI::App& app);

}  // namespace rankbox::cli
