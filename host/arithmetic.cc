// The arithmetic of comm/tensor.h on host memory, in the CPU's vectors.
//
// Measured: a learner's all-reduce adds what it receives here (docs/limits.md).
#include "host/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "comm/dtype.h"
#include "comm/memory_meter.h"
#include "comm/tensor.h"
#include "comm/tensor_checks.h"
#include "comm/without_data.h"
#include "compute/vectors.h"
#include "compute/wrapping.h"

namespace rankbox {
namespace {

/// The value of an element in the type that it is computed in: 16-bit floats in float.
template <class T, class From>
auto wide(From value) {
  if constexpr (ReducedFloat<T>) {
    return float{value};
  } else {
    return static_cast<T>(value);
  }
}

/// x = fn(x, y) for all elements, each rounded once. The slices are disjoint or the same.
template <class T, class Fn>
void combine(Slice into, Slice from, Fn fn) {
  auto* const x = static_cast<T*>(into.data());
  const auto* const y = static_cast<const T*>(from.data());
  const std::int64_t n = into.size();
  on_vectors([=](auto) {
    for (std::int64_t i = 0; i < n; ++i) x[i] = T(fn(wide<T>(x[i]), wide<T>(y[i])));
  });
}

/// into = into op from, element by element.
template <class T>
void reduce_elements(Slice into, Slice from, ReduceOp op) {
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::AVG:
      return combine<Wrapping<T>>(into, from, [](auto x, auto y) { return x + y; });
    case ReduceOp::PRODUCT:
      return combine<Wrapping<T>>(into, from, [](auto x, auto y) { return x * y; });
    case ReduceOp::MAX:
      return combine<T>(into, from, [](auto x, auto y) { return x > y ? x : y; });
    case ReduceOp::MIN:
      return combine<T>(into, from, [](auto x, auto y) { return x < y ? x : y; });
  }
}

/// x = fn(x) for all elements, each rounded once.
template <class T, class Fn>
void transform(Slice into, Fn fn) {
  auto* const x = static_cast<T*>(into.data());
  const std::int64_t n = into.size();
  on_vectors([=](auto) {
    for (std::int64_t i = 0; i < n; ++i) x[i] = T(fn(wide<T>(x[i])));
  });
}

template <class Scalar>
void fill_with(Slice into, Scalar value) {
  if (into.size() == 0) return;
  check_written("full", into);
  const bool is_zero = std::bit_cast<std::uint64_t>(value) == 0;
  note_memory(memory_note(is_zero ? MemoryNote::Kind::kZero : MemoryNote::Kind::kWrite, into));
  if (has_no_data(into.data())) return;
  // Zeros, which gradients begin with, are bytes of 0.
  if (is_zero)
    return static_cast<void>(std::memset(into.data(), 0, static_cast<std::size_t>(into.bytes())));
  with_type(into.dtype(),
            [&]<class T>(T) { std::fill_n(static_cast<T*>(into.data()), into.size(), T(value)); });
}

template <class Scalar>
void scale_by(Slice into, Scalar factor, Place place) {
  check_written("*=", into, place);
  check_factor("*=", into, factor, place);
  if (into.size() == 0 || has_no_data(into.data())) return;
  with_type(into.dtype(), [&]<class T>(T) {
    transform<Wrapping<T>>(into,
                           [=](auto x) { return x * wide<Wrapping<T>>(static_cast<T>(factor)); });
  });
}

template <class Scalar>
void divide_unchecked(Slice into, Scalar divisor) {
  if (into.size() == 0 || has_no_data(into.data())) return;
  with_type(into.dtype(), [&]<class T>(T) {
    transform<T>(into, [=](auto x) { return x / wide<T>(static_cast<T>(divisor)); });
  });
}

template <class Scalar>
void divide_by(Slice into, Scalar divisor, Place place) {
  check_written("/=", into, place);
  check_divisor(into, divisor, place);
  // The smallest integer has no negation, and dividing it by -1 would trap.
  if (is_integer(into.dtype()) && divisor == Scalar{-1}) return scale_by(into, divisor, place);
  divide_unchecked(into, divisor);
}

/// Returns whether there is nothing to move. Throws if values are needed that do not exist.
bool moves_nothing(const char* function, Slice into, Slice from, Place place) {
  if (from.size() == 0 || has_no_data(into.data())) return true;
  require_data(from.data(), function, place);
  return false;
}

}  // namespace

void host::reduce(Slice into, Slice from, ReduceOp op) {
  if (moves_nothing("accumulate", into, from, Place())) return;
  with_type(into.dtype(), [&]<class T>(T) { reduce_elements<T>(into, from, op); });
}

void host::add_scaled(Slice into, double factor, Slice from) {
  if (moves_nothing("axpy", into, from, Place())) return;
  with_type(into.dtype(), [&]<class T>(T) {
    using W = Wrapping<T>;
    // The product is rounded, too, as *= would.
    combine<W>(into, from, [by = wide<W>(static_cast<T>(factor))](auto x, auto y) {
      return x + wide<W>(W(by * y));
    });
  });
}

void host::divide(Slice into, int divisor) {
  if (is_integer(into.dtype())) return divide_unchecked(into, std::int64_t{divisor});
  divide_unchecked(into, static_cast<double>(divisor));
}

void copy(Slice into, Slice from, Place place) {
  check_pair("copy", into, from, place);
  note_memory(memory_note(MemoryNote::Kind::kCopy, into, from));
  if (moves_nothing("copy", into, from, place)) return;
  // memmove: copying a slice onto itself is allowed.
  std::memmove(into.data(), from.data(), static_cast<std::size_t>(from.bytes()));
}

namespace detail {

void copy_from_host(Slice into, const void* from) {
  note_memory(memory_note(MemoryNote::Kind::kWrite, into));
  if (has_no_data(into.data())) return;
  std::memcpy(into.data(), from, static_cast<std::size_t>(into.bytes()));
}
void copy_to_host(void* into, Slice from) {
  require_data(from.data(), "to_host", Place());
  std::memcpy(into, from.data(), static_cast<std::size_t>(from.bytes()));
}

void fill(Slice into, double value) { fill_with(into, value); }
void fill(Slice into, std::int64_t value) { fill_with(into, value); }
void scale(Slice into, double factor, Place place) { scale_by(into, factor, place); }
void scale(Slice into, std::int64_t factor, Place place) { scale_by(into, factor, place); }
void divide(Slice into, double divisor, Place place) { divide_by(into, divisor, place); }
void divide(Slice into, std::int64_t divisor, Place place) { divide_by(into, divisor, place); }

}  // namespace detail
}  // namespace rankbox
