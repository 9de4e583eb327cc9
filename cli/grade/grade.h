// `rankbox grade`: grades a folder of submissions.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_grade(CLI::App& app);

}  // namespace rankbox::cli
