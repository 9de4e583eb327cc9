#include "gpu/shared/staging.h"

#include <optional>

#include "gpu/device/check.h"
#include "gpu/device/device_memory.h"

namespace rankbox::gpu {

SharedStaging::~SharedStaging() {
  for (void* const block : all_) static_cast<void>(cudaFree(block));
  cudaGetLastError();
}

SharedStaging::Block SharedStaging::take(std::int64_t bytes, cudaStream_t stream, int device) {
  if (bytes == 0) return {};
  const std::pair key(device, size_class(bytes));
  std::optional<Unused> found;
  {
    std::lock_guard guard(lock_);
    std::vector<Unused>& unused = unused_[key];
    if (!unused.empty()) {
      found = unused.back();
      unused.pop_back();
    }
  }
  if (found) {
    if (found->after != nullptr) SharedEvents::wait(stream, *found->after);
    events_.release(found->after);
    return found->block;
  }
  Block block{nullptr, key.second, device};
  check(cudaMalloc(&block.data, static_cast<std::size_t>(block.bytes)), "cudaMalloc",
        {.op = "buffer", .bytes = block.bytes});
  std::lock_guard guard(lock_);
  all_.push_back(block.data);
  unused_[key].reserve(all_.size());  // so that give_back() cannot fail
  return block;
}

void SharedStaging::give_back(const Block& block, SharedEvents::Mark* after) noexcept {
  if (block.data == nullptr) return events_.release(after);
  std::lock_guard guard(lock_);
  unused_.find({block.device, block.bytes})->second.push_back({block, after});
}

}  // namespace rankbox::gpu
