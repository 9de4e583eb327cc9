// What the exercises of chapter 1 cost, in closed form. See cost_gather.h for the conventions.
#pragma once

#include <cstdint>

#include "comm/run_options.h"

namespace rankbox::cost {

/// 2(α + nβ): every rank has a partner, except at most one, which is its own. 0 in a world of one
/// rank.
Cost ping_pong(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// As ping_pong, in one step: α + nβ.
Cost exchange(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// ⌈log2 p⌉ α. The two counts are ignored: a barrier has no tensor.
Cost barrier_dissemination(int world_size, std::int64_t elements = 0,
                           std::int64_t element_bytes = 0);

}  // namespace rankbox::cost
