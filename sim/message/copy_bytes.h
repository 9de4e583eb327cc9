// memcpy and memset that accept null pointers for 0 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rankbox::sim {

/// An empty tensor has no address, and memcpy must not be given a null pointer, even for 0 bytes.
inline void copy_bytes(void* into, const void* from, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(into, from, static_cast<std::size_t>(bytes));
}

inline void fill_bytes(void* into, int byte, std::int64_t bytes) {
  if (bytes > 0) std::memset(into, byte, static_cast<std::size_t>(bytes));
}

}  // namespace rankbox::sim
