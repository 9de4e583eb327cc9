// Emulated copies and fills. As in CUDA, a copy from pageable host memory has read it when the call
// returns, and one to pageable host memory has written it. All others are only enqueued on the
// stream.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/gpu/emulation/cuda_call.h"
#include "tests/gpu/emulation/cuda_control.h"
#include "tests/gpu/emulation/cuda_memory.h"
#include "tests/gpu/emulation/cuda_stream.h"

namespace rankbox::gpu::emulation {
namespace {

enum class Where { kDevice, kPinned, kPageable };

struct Side {
  Where where = Where::kPageable;
  int device = -1;
};

std::atomic<std::int64_t>& pageable_copies_so_far() {
  static std::atomic<std::int64_t> copies{0};
  return copies;
}

/// Returns false if the range exceeds the block.
bool look_up(const void* address, std::size_t count, Side& side) {
  const std::optional<Block> block = find_block(address);
  // An address at the very end of a block may also be the start of unknown memory.
  if (!block || block->data + block->bytes == address) return true;
  side = {block->on_device ? Where::kDevice : Where::kPinned, block->device};
  return block->holds(address, count);
}

bool fits(cudaMemcpyKind kind, const Side& to, const Side& from) {
  const bool to_device = to.where == Where::kDevice;
  const bool from_device = from.where == Where::kDevice;
  switch (kind) {
    case cudaMemcpyHostToHost:
      return !to_device && !from_device;
    case cudaMemcpyHostToDevice:
      return to_device && !from_device;
    case cudaMemcpyDeviceToHost:
      return !to_device && from_device;
    case cudaMemcpyDeviceToDevice:
      return to_device && from_device;
    case cudaMemcpyDefault:
      return true;
  }
  return false;
}

/// @param blocking wait for the copy in every case
cudaError_t copy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind,
                 cudaStream_t handle, bool blocking, bool names_devices = false) {
  const std::shared_ptr<Stream> stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (count == 0) return cudaSuccess;
  Side to_side;
  Side from_side;
  if (!look_up(to, count, to_side) || !look_up(from, count, from_side) ||
      !fits(kind, to_side, from_side)) {
    return cudaErrorInvalidValue;
  }
  // A plain copy may not be able to use a pool of another device.
  for (const void* const side : {static_cast<const void*>(to), from}) {
    const std::optional<Block> block = find_block(side);
    if (!names_devices && block && block->of_pool && !kernel_may_use(stream->device(), side))
      return cudaErrorInvalidValue;
  }

  if ((from_side.where == Where::kPageable) != (to_side.where == Where::kPageable))
    ++pageable_copies_so_far();
  if (from_side.where == Where::kPageable) {
    const char* const first = static_cast<const char*>(from);
    const auto staged = std::make_shared<std::vector<char>>(first, first + count);
    stream->enqueue([to, staged] { std::memcpy(to, staged->data(), staged->size()); });
  } else {
    stream->enqueue([to, from, count] { std::memcpy(to, from, count); });
  }
  if (blocking || to_side.where == Where::kPageable) {
    if (!stream->wait_idle()) return cudaErrorLaunchTimeout;
    return health_of(stream->device());
  }
  return cudaSuccess;
}

cudaError_t set(void* to, int value, std::size_t count, cudaStream_t handle, bool blocking) {
  const std::shared_ptr<Stream> stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (count == 0) return cudaSuccess;
  const std::optional<Block> block = find_block(to);
  if (!block || !block->holds(to, count)) return cudaErrorInvalidValue;
  stream->enqueue([to, value, count] { std::memset(to, value, count); });
  if (blocking && !stream->wait_idle()) return cudaErrorLaunchTimeout;
  return cudaSuccess;
}

int device_or_current(cudaStream_t handle) {
  const std::shared_ptr<Stream> stream = handle == nullptr ? nullptr : find_stream(handle);
  return stream == nullptr ? current_device() : stream->device();
}

}  // namespace

std::int64_t pageable_copies() { return pageable_copies_so_far(); }

extern "C" {

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind) {
  return call("cudaMemcpy", [&] { return copy(dst, src, count, kind, nullptr, true); });
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call("cudaMemcpyAsync", device_or_current(stream),
              [&] { return copy(dst, src, count, kind, stream, false); });
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device,
                                size_t count, cudaStream_t stream) {
  return call("cudaMemcpyPeerAsync", device_or_current(stream), [&] {
    Side to;
    Side from;
    if (count > 0 && (!look_up(dst, count, to) || !look_up(src, count, from) ||
                      to.device != dst_device || from.device != src_device)) {
      return cudaErrorInvalidValue;
    }
    return copy(dst, src, count, cudaMemcpyDeviceToDevice, stream, false, /*names_devices=*/true);
  });
}

cudaError_t cudaMemset(void* address, int value, size_t count) {
  return call("cudaMemset", [&] { return set(address, value, count, nullptr, true); });
}

cudaError_t cudaMemsetAsync(void* address, int value, size_t count, cudaStream_t stream) {
  return call("cudaMemsetAsync", device_or_current(stream),
              [&] { return set(address, value, count, stream, false); });
}

}  // extern "C"

}  // namespace rankbox::gpu::emulation
