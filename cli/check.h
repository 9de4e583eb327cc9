// `rankbox check`: grades one exercise.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_check(CLI::App& app);

}  // namespace rankbox::cli
