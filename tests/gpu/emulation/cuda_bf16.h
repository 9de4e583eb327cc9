// CUDA's bfloat16, as far as Rankbox's kernels use it.
#pragma once

#include "comm/bfloat16.h"

// NOLINTBEGIN: the names are NVIDIA's.
struct __nv_bfloat16 {
  rankbox::BFloat16 value;
};
inline float __bfloat162float(__nv_bfloat16 x) { return x.value; }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return {rankbox::BFloat16(x)}; }
// NOLINTEND
