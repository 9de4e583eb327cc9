// Tensor memory on the host, counted per rank.
#include <new>
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/memory_meter.h"
#include "comm/tensor.h"
#include "comm/without_data.h"

namespace rankbox {

namespace detail {
namespace {

constexpr std::align_val_t kAlignment{64};  // a cache line, and the widest vector

/// Returns null if there is not enough memory.
void* allocate(std::int64_t bytes, MemoryMeter* meter) {
  if (meter == nullptr || meter->next_address == nullptr)
    return ::operator new(static_cast<std::size_t>(bytes), kAlignment, std::nothrow);
  // Rounded up, so that tensors are disjoint and aligned as if they had data.
  constexpr std::int64_t kLargest = std::int64_t{1} << 50;
  constexpr std::uintptr_t kLastAddress = std::uintptr_t{1} << 62;
  if (bytes > kLargest || reinterpret_cast<std::uintptr_t>(meter->next_address) > kLastAddress)
    return nullptr;
  constexpr auto kStep = static_cast<std::int64_t>(kAlignment);
  const std::int64_t taken = (bytes + kStep - 1) / kStep * kStep;
  return std::exchange(meter->next_address, meter->next_address + taken);
}

void note(MemoryNote::Kind kind, void* data, std::int64_t bytes) {
  note_memory({.kind = kind, .into = reinterpret_cast<std::uintptr_t>(data), .into_bytes = bytes});
}

void release(void* data) {
  if (!has_no_data(data)) ::operator delete(data, kAlignment);
}

}  // namespace

Storage::Storage(std::int64_t elements, std::int64_t element_bytes) {
  if (elements == 0) return;
  const bool countable = !__builtin_mul_overflow(elements, element_bytes, &bytes_);
  MemoryMeter* const meter = current_memory_meter();
  if (countable) data_ = allocate(bytes_, meter);
  if (data_ == nullptr) {
    throw OutOfMemory(fmt::format(
        "a tensor of {} elements of {} bytes does not fit into memory: use fewer elements",
        elements, element_bytes));
  }
  if (meter != nullptr) {
    meter->add(bytes_);
    owner_ = meter->owner;
    note(MemoryNote::Kind::kAllocate, data_, bytes_);
  }
}

Storage::~Storage() {
  if (data_ == nullptr) return;
  // Another thread may free a tensor that left its rank; that thread's count never included it.
  MemoryMeter* meter = current_memory_meter();
  if (meter != nullptr && meter->owner == owner_) {
    meter->add(-bytes_);
    note(MemoryNote::Kind::kFree, data_, bytes_);
  }
  // A started operation of this rank may use the tensor, whichever rank made it.
  const bool may_be_used = meter != nullptr && !meter->in_use.empty();
  if (may_be_used && meter->in_use.keep(data_, bytes_, release)) return;
  release(data_);
}

}  // namespace detail
}  // namespace rankbox
