// `rankbox race`: the race-condition demo.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_race(CLI::App& app);

}  // namespace rankbox::cli
