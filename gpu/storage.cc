// Tensor memory on the rank's GPU, counted per rank.
#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/memory_meter.h"
#include "comm/tensor.h"
#include "gpu/device_here.h"

namespace rankbox::detail {

Storage::Storage(std::int64_t elements, std::int64_t element_bytes) {
  if (elements == 0) return;
  if (__builtin_mul_overflow(elements, element_bytes, &bytes_)) {
    throw OutOfMemory(fmt::format(
        "a tensor of {} elements of {} bytes does not fit into memory: use fewer elements",
        elements, element_bytes));
  }
  data_ = gpu::device_here().allocate(bytes_);
  if (MemoryMeter* meter = current_memory_meter()) {
    meter->add(bytes_);
    owner_ = meter->owner;
  }
}

Storage::~Storage() {
  if (data_ == nullptr) return;
  if (gpu::RankDevice* const here = gpu::current_rank_device()) {
    here->release(data_);
  } else {
    gpu::DeviceMemory::release_elsewhere(data_);
  }
  // A tensor that left its rank is freed by another rank, whose count never included it.
  MemoryMeter* meter = current_memory_meter();
  if (meter != nullptr && meter->owner == owner_) meter->add(-bytes_);
}

}  // namespace rankbox::detail
