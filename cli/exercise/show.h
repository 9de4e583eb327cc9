// `rankbox show`: draws one run of an exercise.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_show(CLI::App& app);

}  // namespace rankbox::cli
