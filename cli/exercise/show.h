// `rankbox show`: one run of an exercise, as a picture.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_show(CLI::App& app);

}  // namespace rankbox::cli
