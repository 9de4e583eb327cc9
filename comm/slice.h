// A contiguous piece of a tensor, which calls send, receive and reduce.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "comm/dtype.h"
#include "comm/place.h"

namespace rankbox {

/// A non-owning view of `size` consecutive elements. Any tensor converts to the slice of all its
/// elements.
///
/// A slice is four words: pass it by value. It does not keep its tensor alive. A slice of a const
/// tensor is read-only: receiving into it or reducing into it throws InvalidArgument.
class Slice {
 public:
  /// The null slice. No operation accepts it. A slice of an empty tensor is valid, and is not null.
  Slice() = default;

  /// @param owner the rank that owns the tensor (see memory_meter.h); 0 for a tensor made outside
  /// any rank
  Slice(void* data, std::int64_t size, DType dtype, bool read_only, std::uint64_t owner)
      : data_(data),
        size_(size),
        owner_(owner),
        dtype_(dtype),
        read_only_(read_only),
        null_(false) {}

  void* data() const { return data_; }
  std::int64_t size() const { return size_; }                     // elements
  std::int64_t bytes() const { return size_ * size_of(dtype_); }  // bytes
  DType dtype() const { return dtype_; }
  bool read_only() const { return read_only_; }
  bool is_null() const { return null_; }
  std::uint64_t owner() const { return owner_; }

  /// Elements [begin, end) of this slice.
  /// Throws InvalidArgument unless 0 <= begin <= end <= size().
  Slice sub(std::int64_t begin, std::int64_t end, Place place = Place::current()) const {
    if (begin < 0 || begin > end || end > size_) [[unlikely]] {
      throw_outside(begin, end, place);
    }
    Slice piece = *this;
    // A null or empty slice has no address to advance; its begin is 0.
    if (begin > 0) piece.data_ = static_cast<char*>(data_) + begin * size_of(dtype_);
    piece.size_ = end - begin;
    return piece;
  }

 private:
  [[noreturn]] void throw_outside(std::int64_t begin, std::int64_t end, Place place) const;

  void* data_ = nullptr;
  std::int64_t size_ = 0;
  std::uint64_t owner_ = 0;
  DType dtype_ = DType::kFloat32;
  bool read_only_ = false;
  bool null_ = true;
};

/// Returns part i of n nearly equal parts: elements [i*N/n, (i+1)*N/n) of a slice (or tensor) of N
/// elements. The parts cover the slice, in order, without gaps. Their sizes differ by at most one
/// element. Throws InvalidArgument unless 0 <= i < n.
Slice chunk(Slice whole, int i, int n, Place place = Place::current());

/// A slice and the line that mentions it, for operators: they cannot have defaulted parameters.
struct SliceHere {
  template <std::convertible_to<Slice> S>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): a SliceHere converts to no Slice
  SliceHere(S&& its, Place current = Place::current())
      : slice(std::forward<S>(its)), place(current) {}

  Slice slice;
  Place place;
};

/// A number and the line that mentions it, likewise.
template <class T>
struct NumberHere {
  NumberHere(T its, Place current = Place::current()) : number(its), place(current) {}

  T number;
  Place place;
};

}  // namespace rankbox
