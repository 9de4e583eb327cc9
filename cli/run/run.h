// `rankbox run`: a user's program, in the sandbox, under MPI or on GPUs.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_run(CLI::App& app);

}  // namespace rankbox::cli
