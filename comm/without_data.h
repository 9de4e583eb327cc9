// Tensors without data: a size and a range of addresses, but no memory behind it.
//
// In a run with RunOptions::without_data, every tensor that a rank makes is one. Copies, messages
// and reductions of any size then cost virtual time alone. Elements have no values, so reading or
// writing one is an error.
#pragma once

#include <cstdint>

#include "comm/place.h"

namespace rankbox {

/// Their addresses begin here: no program of a 64-bit Linux has memory there.
inline constexpr std::uintptr_t kFirstWithoutData = std::uintptr_t{1} << 52;

inline bool has_no_data(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) >= kFirstWithoutData;
}

/// Throws InvalidArgument: there are no elements to read or write.
[[noreturn]] void refuse_values(const char* function, Place place);

/// Throws as refuse_values() if the elements at `data` do not exist.
inline void require_data(const void* data, const char* function, Place place) {
  if (has_no_data(data)) [[unlikely]]
    refuse_values(function, place);
}

}  // namespace rankbox
