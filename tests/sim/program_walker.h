// Runs a random program on the sandbox.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/comm.h"
#include "tests/sim/random_program.h"

namespace rankbox::testing {

/// Executes one rank's steps of the program in order. Returns the digests of the data it received,
/// in order.
///
/// Throws what the calls throw, and std::runtime_error where the program specifies it.
std::vector<std::uint64_t> walk(const Program& program, Comm& dist);

}  // namespace rankbox::testing
