// Whether a tensor holds numbers only: no infinity, no NaN.
#pragma once

#include "comm/slice.h"

namespace rankbox {

/// Returns true for an empty slice, and for integers.
/// Cost: one sweep. On a GPU it blocks until the rank's stream has finished. Thread safety: any
/// thread.
bool all_finite(Slice slice);

}  // namespace rankbox
