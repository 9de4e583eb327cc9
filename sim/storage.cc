// Tensor memory in the sandbox: the host's, counted per rank.
#include <new>
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/memory_meter.h"
#include "comm/tensor.h"

namespace rankbox {

MemoryMeter*& current_memory_meter() {
  static thread_local MemoryMeter* meter = nullptr;
  return meter;
}

Shape::Shape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {
  for (std::int64_t extent : extents_) {
    if (extent < 0)
      throw InvalidArgument(
          fmt::format("a shape cannot have an extent of {}: 0 or more are needed", extent));
  }
  elements();  // throws if they are too many to count
}

std::int64_t Shape::elements() const {
  if (extents_.empty()) return 0;
  std::int64_t product = 1;
  for (std::int64_t extent : extents_) {
    if (__builtin_mul_overflow(product, extent, &product)) {
      throw InvalidArgument("a shape has more elements than 64 bits can count");
    }
  }
  return product;
}

namespace detail {
namespace {

constexpr std::align_val_t kAlignment{64};  // a cache line, and the widest vector

}  // namespace

Storage::Storage(std::int64_t elements, std::int64_t element_bytes) {
  if (elements == 0) return;
  const bool countable = !__builtin_mul_overflow(elements, element_bytes, &bytes_);
  if (countable) data_ = ::operator new(static_cast<std::size_t>(bytes_), kAlignment, std::nothrow);
  if (data_ == nullptr) {
    throw OutOfMemory(fmt::format(
        "a tensor of {} elements of {} bytes does not fit into memory: use fewer elements",
        elements, element_bytes));
  }
  if (MemoryMeter* meter = current_memory_meter()) {
    meter->add(bytes_);
    owner_ = meter->owner;
  }
}

Storage::~Storage() {
  if (data_ == nullptr) return;
  ::operator delete(data_, kAlignment);
  // A tensor that left its rank is freed by somebody else, whose count it never was part of.
  MemoryMeter* meter = current_memory_meter();
  if (meter != nullptr && meter->owner == owner_) meter->add(-bytes_);
}

}  // namespace detail
}  // namespace rankbox
