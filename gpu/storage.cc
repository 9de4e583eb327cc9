// Tensor memory on the rank's GPU, counted per rank.
#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/memory_meter.h"
#include "comm/tensor.h"
#include "gpu/device/device_memory.h"
#include "gpu/device_here.h"

namespace rankbox::detail {
namespace {

/// Of this rank.
void release_mine(void* data) { gpu::device_here().release(data); }

/// Of this rank, which did not wait for an operation that uses it.
void release_unwaited(void* data) {
  gpu::device_here().keep_blocks();
  gpu::device_here().release(data);
}

}  // namespace

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
  // A tensor that left its rank is freed by another rank, whose count never included it.
  MemoryMeter* meter = current_memory_meter();
  const bool is_mine = meter != nullptr && meter->owner == owner_;
  if (is_mine) meter->add(-bytes_);
  // A started operation of this rank may use the tensor, whichever rank made it.
  const bool may_be_used = meter != nullptr && !meter->in_use.empty();
  const auto later = is_mine ? release_unwaited : gpu::release_elsewhere;
  if (may_be_used && meter->in_use.keep(data_, bytes_, later)) return;
  is_mine ? release_mine(data_) : gpu::release_elsewhere(data_);
}

}  // namespace rankbox::detail
