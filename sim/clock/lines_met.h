// Where ranks met in one collective from different lines of the source.
//
// The k-th collective of one rank meets the k-th of the others, whatever they mean by it. Two
// tensors of equal size that ranks reduce in opposite order are crossed without a mismatch. It may
// also be right: a root may have its own line.
#pragma once

#include <optional>
#include <string>

#include "comm/trace.h"

namespace rankbox {

/// Returns a sentence about the first collective that ranks called from different lines; nothing if
/// there is none. REQUIRES: the trace has all events.
std::optional<std::string> lines_met(const Trace& trace);

}  // namespace rankbox
