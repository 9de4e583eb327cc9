// The part of CUDA's 16-bit float that Rankbox's kernels use.
#pragma once

#include "comm/float16.h"

// NOLINTBEGIN: the names are NVIDIA's.
struct __half {
  rankbox::Float16 value;
};
inline float __half2float(__half x) { return x.value; }
inline __half __float2half_rn(float x) { return {rankbox::Float16(x)}; }
// NOLINTEND
