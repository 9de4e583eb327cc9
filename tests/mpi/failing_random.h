// A random broken program, run by all processes.
#pragma once

#include <cstdint>

namespace rankbox {

/// Prints a line "may end as CLASS" for each end that the reference model allows, then runs it.
void run_random(std::uint64_t seed);

}  // namespace rankbox
