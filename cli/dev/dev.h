// `rankbox dev`: for authors of exercises.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_dev(CLI::App& app);

}  // namespace rankbox::cli
