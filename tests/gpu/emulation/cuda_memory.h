// Which addresses are device memory, pinned host memory, or neither.
#pragma once

#include <cstddef>
#include <optional>

namespace rankbox::gpu::emulation {

struct Block {
  char* data = nullptr;
  std::size_t bytes = 0;
  bool on_device = false;  // else: pinned host memory
  int device = 0;          // whose, or which was current then

  /// Is [address, address + count) inside?
  bool holds(const void* address, std::size_t count) const {
    const char* const first = static_cast<const char*>(address);
    return first >= data && count <= bytes &&
           static_cast<std::size_t>(first - data) <= bytes - count;
  }
};

/// The block that the address points into, or to the end of.
std::optional<Block> find_block(const void* address);

/// May a kernel on `device` use this address? Null may be passed, as long as it is not used.
bool kernel_may_use(int device, const void* address);

bool peer_access_enabled(int device, int peer);

}  // namespace rankbox::gpu::emulation
