// `rankbox reset`: restores the stub, and keeps a copy of the learner's file.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_reset(CLI::App& app);

}  // namespace rankbox::cli
