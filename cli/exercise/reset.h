// `rankbox reset`: back to the stub; what was there is kept.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_reset(CLI::App& app);

}  // namespace rankbox::cli
