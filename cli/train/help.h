// The help of `rankbox train`.
#pragma once

#include <string_view>

namespace rankbox::cli {

/// What the sandbox's program prints for --help, from help.txt: help must not build that program.
extern const std::string_view kTrainHelp;

}  // namespace rankbox::cli
