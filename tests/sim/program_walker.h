// Runs a random program on the sandbox.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/comm.h"
#include "tests/sim/random_program.h"

namespace rankbox::testing {

/// One rank's share of the program: takes its steps one after the other. Returns the digests of
/// what it received, in order.
///
/// Errors: what the calls throw, and std::runtime_error where the program says so.
std::vector<std::uint64_t> walk(const Program& program, Comm& dist);

}  // namespace rankbox::testing
