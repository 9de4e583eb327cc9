// `rankbox test`: all tests.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Registers the subcommand. It replaces this process by bazel/run_all_tests.sh.
void add_test(CLI::App& app);

}  // namespace rankbox::cli
