#include "tests/gpu/emulation/cuda_kernel.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "tests/gpu/emulation/cuda_call.h"
#include "tests/gpu/emulation/cuda_control.h"
#include "tests/gpu/emulation/cuda_memory.h"
#include "tests/gpu/emulation/cuda_stream.h"

namespace rankbox::gpu::emulation {
namespace {

constexpr unsigned kMostThreadsPerBlock = 1024;

void run_all_threads(dim3 grid, dim3 block, const std::function<void()>& one_thread) {
  gridDim = grid;
  blockDim = block;
  for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z) {
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y) {
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) {
        for (threadIdx.z = 0; threadIdx.z < block.z; ++threadIdx.z) {
          for (threadIdx.y = 0; threadIdx.y < block.y; ++threadIdx.y) {
            for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x) one_thread();
          }
        }
      }
    }
  }
}

/// Is there memory at all? Numbers are hardly ever such an address.
bool is_mapped(std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(address / page * page), 1, &resident) == 0;
}

struct Loading {
  std::mutex mutex;
  bool is_lazy = false;
  std::set<std::pair<int, const void*>> loaded;  // by device
};

Loading& loading() {
  static auto* const all = new Loading;
  return *all;
}

/// Returns whether this launch is to load the kernel.
bool is_new(int device, const void* kernel) {
  const std::lock_guard lock(loading().mutex);
  return loading().is_lazy && loading().loaded.emplace(device, kernel).second;
}

// Programs, heaps and stacks are above. Two small integers, side by side, are an address below,
// where AddressSanitizer has its shadow memory.
constexpr std::uintptr_t kLowest = std::uintptr_t{1} << 45;

}  // namespace

void note_addresses(const void* object, std::size_t bytes, std::vector<const void*>& pointers) {
  const char* const from = static_cast<const char*>(object);
  for (std::size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, from + at, sizeof word);
    if (word >= kLowest && is_mapped(word)) pointers.push_back(reinterpret_cast<const void*>(word));
  }
}

void load_kernels_at_first_launch(bool on) {
  const std::lock_guard lock(loading().mutex);
  loading().is_lazy = on;
  loading().loaded.clear();
}

cudaError_t launch(const void* kernel, dim3 grid, dim3 block, cudaStream_t handle,
                   std::vector<const void*> pointers, std::function<void()> one_thread) {
  const std::shared_ptr<Stream> stream = find_stream(handle);
  const int device = stream == nullptr ? current_device() : stream->device();
  return call("cudaLaunchKernelEx", device, [&] {
    // A kernel can be launched only on the current device's streams.
    if (stream == nullptr || device != current_device()) return cudaErrorInvalidResourceHandle;
    const unsigned threads = block.x * block.y * block.z;
    if (threads == 0 || threads > kMostThreadsPerBlock || grid.x == 0 || grid.y == 0 ||
        grid.z == 0) {
      return cudaErrorInvalidConfiguration;
    }
    if (is_new(device, kernel) && !wait_for_device(device)) return cudaErrorLaunchTimeout;
    stream->enqueue([=, pointers = std::move(pointers), one_thread = std::move(one_thread)] {
      const bool legal = std::all_of(pointers.begin(), pointers.end(), [&](const void* pointer) {
        return kernel_may_use(device, pointer);
      });
      if (!legal) return break_device(device, cudaErrorIllegalAddress);
      run_all_threads(grid, block, one_thread);
    });
    return cudaSuccess;
  });
}

}  // namespace rankbox::gpu::emulation
