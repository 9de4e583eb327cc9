// Whether a tensor holds numbers only: no infinity, no NaN.
#pragma once

#include "comm/slice.h"

namespace rankbox {

/// True for a slice without elements, and for integers.
/// Cost: one sweep. Blocks until the rank's stream has come that far. Thread safety: any thread.
bool all_finite(Slice slice);

}  // namespace rankbox
