// A digest of a rank's result, for contracts that promise the same bits on every rank.
//
// A rank compares its result with the expected one alone, and a mean may be rounded. So it also
// notes the result's bits, and run_case compares those of all ranks, after the run: a message for
// it would change the trace.
//
// Thread safety: the note is the thread's. REQUIRES: the rank does not block between the two calls.
#pragma once

#include <cstdint>

#include "comm/tensor.h"

namespace rankbox {

/// Adds this result to the thread's note.
void note_result(const Tensor& result);

/// Returns the thread's note, 0 if there is none, and clears it.
std::uint64_t take_noted_result();

}  // namespace rankbox
