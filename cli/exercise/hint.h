// `rankbox hint`: one more hint with each call.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_hint(CLI::App& app);

}  // namespace rankbox::cli
