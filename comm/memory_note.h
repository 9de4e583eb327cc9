// What a rank does to tensor memory, in program order, for pictures of what it holds.
//
// Events say how many bytes a call moves; notes say which. Loops over data() leave no note.
#pragma once

#include <cstddef>
#include <cstdint>

#include "comm/slice.h"

namespace rankbox {

struct MemoryNote {
  enum class Kind : std::uint8_t {
    kAllocate,  // `into`
    kFree,      // `into`
    kZero,      // `into` is filled with zeros
    kWrite,     // `into` is filled with other values, or from host memory
    kCopy,      // from `from` to `into`, locally
    kEvent,     // a call began that reads `from` and writes `into`; either may be empty
  };

  Kind kind = Kind::kEvent;
  std::uint32_t event = 0;  // kEvent: index into Trace::ranks[rank]
  std::uintptr_t into = 0;
  std::int64_t into_bytes = 0;
  std::uintptr_t from = 0;
  std::int64_t from_bytes = 0;
};

inline MemoryNote memory_note(MemoryNote::Kind kind, Slice into, Slice from = Slice(),
                              std::size_t event = 0) {
  return {.kind = kind,
          .event = static_cast<std::uint32_t>(event),
          .into = reinterpret_cast<std::uintptr_t>(into.data()),
          .into_bytes = into.bytes(),
          .from = reinterpret_cast<std::uintptr_t>(from.data()),
          .from_bytes = from.bytes()};
}

}  // namespace rankbox
