// What a native collective leaves in memory, for the replay of what ranks hold (memory_replay.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "comm/trace.h"
#include "viewer/held_memory.h"

namespace rankbox {

/// One call of a native collective by all its members.
struct Meeting {
  std::vector<std::optional<HeldRuns>> in;  // [index]; unset: not called yet
  std::vector<std::int64_t> out_bytes;      // [index] that the member receives

  bool is_complete() const {
    return std::ranges::all_of(in, [](const auto& each) { return each.has_value(); });
  }
};

/// Returns what the member with this index receives. REQUIRES: the meeting is complete.
/// @param event that member's
/// @param in_bytes of what it gives
/// @param out_bytes of what it receives
HeldRuns result_of(const Meeting& meeting, const Event& event, std::size_t index, std::size_t root,
                   std::int64_t in_bytes, std::int64_t out_bytes);

}  // namespace rankbox
