// `rankbox watch`: grades each exercise when it is saved.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_watch(CLI::App& app);

}  // namespace rankbox::cli
