// `rankbox hint`: a little help, more of it each time.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_hint(CLI::App& app);

}  // namespace rankbox::cli
