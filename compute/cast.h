// Elements in another floating-point type.
//
//   TensorOf<Float16> half(master.shape());
//   cast(master, half);
#pragma once

#include "comm/slice.h"

namespace rankbox {

/// into[i] = from[i], rounded to nearest, ties to even. Types: float32, float64, float16, bfloat16.
/// REQUIRES: the two are equal or do not overlap.
/// Cost: one sweep; enqueued, on a GPU. Thread safety: any thread.
/// Errors: InvalidArgument for slices that differ in size, a read-only target, other types.
void cast(Slice from, Slice into);

}  // namespace rankbox
