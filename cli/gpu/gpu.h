// `rankbox gpu`: one report about a machine with GPUs, here or from a bundle.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Registers the subcommand. The script `rankbox` has ended already if there is no driver here.
void add_gpu(CLI::App& app);

}  // namespace rankbox::cli
