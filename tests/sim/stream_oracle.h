// Random programs of messages and barriers, and ranks with real streams, as an oracle for
// sim/clock/stream_order.h.
//
// The oracle runs a program with a second rank for each rank: its stream, which carries out groups
// of messages one after the other. The sandbox then proves whether that deadlocks. A rank tells its
// stream that it has handed a group over, and the stream tells it that the group is done, by
// messages for which their senders do not wait.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/trace.h"
#include "tests/sim/random_program.h"

namespace rankbox::testing {

/// One call of a rank: of one step, or of several waits as one wait_all.
using Call = std::vector<Step>;

/// Returns a random program, [rank][call], that ends in any order. Nothing for a seed whose program
/// splits communicators.
/// @param crossed whether a rank may start neighbouring messages in another order than its peers;
/// if not, no streams cross, however messages are grouped
std::optional<std::vector<std::vector<Call>>> random_calls(std::uint64_t seed, bool crossed);

/// Runs the program in the sandbox, which must not fail, and returns its trace.
Trace trace_of(const std::vector<std::vector<Call>>& ranks);

/// Returns whether ranks with real streams deadlock.
/// @param buffered whether a stream's send ends at once
bool hangs_on_streams(const std::vector<std::vector<Call>>& ranks, bool buffered);

}  // namespace rankbox::testing
