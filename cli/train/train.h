// `rankbox train`: starts a separate program, which is built per backend.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Registers the subcommand. It checks and compiles the learner's files that the run calls, and
/// starts the backend's program. If that is not built yet, the script `rankbox` builds it.
void add_train(CLI::App& app);

}  // namespace rankbox::cli
