// Executes a random program on one rank.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "comm/comm.h"
#include "tests/sim/random_program.h"

namespace rankbox::testing {

/// Executes one rank's steps of the program in order. Returns the digests of the data it received,
/// in order. Calls `before_step` before each step that other ranks may notice, and before the end.
///
/// Throws what the calls throw, and std::runtime_error where the program specifies it.
std::vector<std::uint64_t> walk(const Program& program, Comm& dist,
                                const std::function<void()>& before_step = {});

}  // namespace rankbox::testing
