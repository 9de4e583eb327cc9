// Owning N-d arrays and their arithmetic, the same on every backend.
//
// Everything declared here is implemented once per kind of memory and selected at link time: host
// memory for the sandbox and MPI (host/), device memory and kernels on GPUs (gpu/). So no header
// here depends on a backend. For expressions over arrays there is comm/xtensor.h.
//
//   Tensor t = full({4, 1024}, 1.0f);
//   Tensor u = clone(t);
//   t += u;                                       // element-wise; sizes and dtypes must agree
//   accumulate(chunk(t, 0, 4), chunk(u, 1, 4), ReduceOp::MAX);   // in place, on slices
//
// Thread safety: like any value, a tensor may be used by one thread at a time.
// Errors: InvalidArgument for a negative extent, sizes or dtypes that differ, and a null or
// read-only target slice. BufferReused for elements that a started operation has not delivered yet,
// and for a target that one uses: wait() first.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/dtype.h"
#include "comm/place.h"
#include "comm/reduce_op.h"
#include "comm/slice.h"
#include "comm/without_data.h"

// gnu::error reports the calls that are left after inlining: noinline leaves all of them.
#if defined(RANKBOX_ELEMENTS_ARE_REMOTE)
#define RANKBOX_ELEMENTS                                                                      \
  [[gnu::noinline, gnu::error("tensors are in the memory of a GPU, which a loop on the host " \
                              "cannot read: copy with to_host() and from_host(), or compute " \
                              "with the functions that docs/gpu.md lists")]]
#else
#define RANKBOX_ELEMENTS
#endif

namespace rankbox {

/// Extents of a tensor, outermost first. One number is a one-dimensional shape; {} is the empty
/// shape of 0 elements.
class Shape {
 public:
  Shape() = default;
  template <std::integral I>
  Shape(I extent) : Shape(std::vector<std::int64_t>{static_cast<std::int64_t>(extent)}) {}
  Shape(std::initializer_list<std::int64_t> extents) : Shape(std::vector<std::int64_t>(extents)) {}
  Shape(std::vector<std::int64_t> extents);  // throws InvalidArgument for a negative extent

  const std::vector<std::int64_t>& extents() const { return extents_; }
  std::int64_t elements() const;  // product of the extents; 0 for the empty shape
  /// Returns where an element is, counted in the order of memory: the last index runs fastest.
  /// Throws InvalidArgument if there is none.
  std::int64_t position(std::initializer_list<std::int64_t> index) const {
    std::int64_t at = 0;
    bool exists = index.size() == extents_.size() && index.size() > 0;
    for (std::size_t i = 0; exists && i < index.size(); ++i) {
      const std::int64_t it = index.begin()[i];
      exists = it >= 0 && it < extents_[i];
      at = at * extents_[i] + it;
    }
    if (!exists) [[unlikely]]
      throw_no_element(index);
    return at;
  }
  bool operator==(const Shape&) const = default;

 private:
  [[noreturn]] void throw_no_element(std::span<const std::int64_t> index) const;

  std::vector<std::int64_t> extents_;
};

namespace detail {

/// Throws BufferReused if the slice has not been delivered yet: an operation writes to it that was
/// not waited for.
void check_delivered(const char* function, Slice from, Place place);

/// A block of the backend's memory, counted on the rank that allocates it. Uninitialised.
class Storage {
 public:
  Storage() = default;
  /// Throws OutOfMemory if the elements do not fit in memory.
  Storage(std::int64_t elements, std::int64_t element_bytes);
  Storage(Storage&& other) noexcept { swap(other); }
  Storage& operator=(Storage&& other) noexcept {
    Storage(std::move(other)).swap(*this);
    return *this;
  }
  ~Storage();

  void* data() const { return data_; }
  std::uint64_t owner() const { return owner_; }

 private:
  void swap(Storage& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(owner_, other.owner_);
  }

  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::uint64_t owner_ = 0;
};

/// Throws InvalidArgument unless the shape has `count` elements.
void check_holds(const Shape& shape, std::size_t count);
void copy_from_host(Slice into, const void* from);
void copy_to_host(void* into, Slice from);
void fill(Slice into, double value);
void fill(Slice into, std::int64_t value);
void add_scaled(Slice into, double factor, Slice from, Place place);
void scale(Slice into, double factor, Place place);
void scale(Slice into, std::int64_t factor, Place place);
void divide(Slice into, double divisor, Place place);
void divide(Slice into, std::int64_t divisor, Place place);

/// The wider of the two kinds of scalar: doubles for floating point, 64-bit integers for the rest.
template <class T>
using Scalar = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

}  // namespace detail

/// An owning array of one dtype. A value: copying copies the elements, moving leaves the source
/// empty, of 0 elements.
template <class T>
class TensorOf {
 public:
  using value_type = T;

  TensorOf() = default;  // empty: 0 elements
  explicit TensorOf(Shape shape) : shape_(std::move(shape)), size_(shape_.elements()) {
    storage_ = detail::Storage(size_, static_cast<std::int64_t>(sizeof(T)));
  }
  explicit TensorOf(std::initializer_list<std::int64_t> extents) : TensorOf(Shape(extents)) {}
  TensorOf(const TensorOf& other);
  TensorOf(TensorOf&& other) noexcept
      : shape_(std::exchange(other.shape_, {})),
        size_(std::exchange(other.size_, 0)),
        storage_(std::move(other.storage_)) {}
  TensorOf& operator=(const TensorOf& other) { return *this = TensorOf(other); }
  TensorOf& operator=(TensorOf&& other) noexcept {
    shape_ = std::exchange(other.shape_, {});
    size_ = std::exchange(other.size_, 0);
    storage_ = std::move(other.storage_);
    return *this;
  }
  ~TensorOf() = default;

  const Shape& shape() const { return shape_; }
  std::int64_t size() const { return size_; }  // elements
  std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(sizeof(T)); }
  bool empty() const { return size_ == 0; }
  static constexpr DType dtype() { return dtype_of<T>(); }

  /// Returns the elements, in the backend's memory. Host code may read them in the sandbox and
  /// under MPI, but not on a GPU: a learner's file that calls this does not compile for NCCL.
  /// Throws InvalidArgument for a tensor without data (comm/without_data.h).
  RANKBOX_ELEMENTS T* data(Place place = Place::current()) {
    require_data(storage_.data(), "data", place);
    return static_cast<T*>(storage_.data());
  }
  RANKBOX_ELEMENTS const T* data(Place place = Place::current()) const {
    require_data(storage_.data(), "data", place);
    return static_cast<const T*>(storage_.data());
  }

  /// Returns an element, by one index per extent: t(row, column). As data(), not on a GPU. Throws
  /// InvalidArgument for an element that does not exist, but the line is unknown.
  template <std::integral... I>
  RANKBOX_ELEMENTS T& operator()(I... index) {
    return data(Place())[shape_.position({static_cast<std::int64_t>(index)...})];
  }
  template <std::integral... I>
  RANKBOX_ELEMENTS const T& operator()(I... index) const {
    return data(Place())[shape_.position({static_cast<std::int64_t>(index)...})];
  }

  operator Slice() { return {storage_.data(), size_, dtype(), false, storage_.owner()}; }
  operator Slice() const { return {storage_.data(), size_, dtype(), true, storage_.owner()}; }

 private:
  Shape shape_;
  std::int64_t size_ = 0;
  detail::Storage storage_;
};

/// The tensor of the exercises.
using Tensor = TensorOf<float>;

// ---- Slices: the primitives -----------------------------------------------------------------

/// into[i] = into[i] op from[i], in place: one reduction of from.bytes() bytes (costs γ each). AVG
/// adds, like SUM: divide by the world size once, at the end (divide_if_average in
/// collectives/average.h).
///
/// Integers that overflow wrap around. SUM and PRODUCT of NaN are NaN; if one operand is NaN, the
/// result of MAX and MIN is unspecified: either of the two.
/// Errors: InvalidArgument if the two overlap without being the same, if either belongs to another
/// rank's tensor, and as at the top of this file.
void accumulate(Slice into, Slice from, ReduceOp op = ReduceOp::SUM,
                Place place = Place::current());

/// into[i] += factor * from[i], the product and the sum each rounded: one reduction, as accumulate()
/// with SUM. Integers take a whole factor. Errors: as accumulate, and InvalidArgument for bools.
inline void axpy(Slice into, double factor, Slice from, Place place = Place::current()) {
  detail::add_scaled(into, factor, from, place);
}

/// into[i] = from[i]. A local copy, free in virtual time. Errors: as accumulate.
void copy(Slice into, Slice from, Place place = Place::current());

inline Slice operator+=(Slice into, SliceHere from) {
  return accumulate(into, from.slice, ReduceOp::SUM, from.place), into;
}
inline Slice operator-=(Slice into, SliceHere from) {
  return axpy(into, -1, from.slice, from.place), into;
}
inline Slice operator*=(Slice into, SliceHere from) {
  return accumulate(into, from.slice, ReduceOp::PRODUCT, from.place), into;
}
inline Slice operator*=(Slice into, NumberHere<double> factor) {
  return detail::scale(into, factor.number, factor.place), into;
}
inline Slice operator/=(Slice into, NumberHere<double> divisor) {
  return detail::divide(into, divisor.number, divisor.place), into;
}

// ---- Tensors: creation ----------------------------------------------------------------------

template <class T = float>
TensorOf<T> full(Shape shape, std::type_identity_t<T> value) {
  TensorOf<T> made(std::move(shape));
  detail::fill(made, static_cast<detail::Scalar<T>>(value));
  return made;
}

template <class T = float>
TensorOf<T> zeros(Shape shape) {
  return full<T>(std::move(shape), T{0});
}

/// Returns a tensor of the same shape with unspecified elements.
template <class T>
TensorOf<T> empty_like(const TensorOf<T>& like) {
  return TensorOf<T>(like.shape());
}

template <class T>
TensorOf<T> clone(const TensorOf<T>& from, Place place = Place::current()) {
  TensorOf<T> made(from.shape());
  if (!from.empty()) rankbox::copy(made, from, place);  // with a Place, std::copy is found too
  return made;
}

template <class T>
TensorOf<T>::TensorOf(const TensorOf& other) : TensorOf(clone(other, Place())) {}

/// Returns a tensor with the elements of an array in host memory (a vector, an array, a span):
/// one-dimensional, or of a shape with as many elements (else InvalidArgument).
template <class R>
requires requires(const R& host) { std::span(std::data(host), std::size(host)); }
auto from_host(const R& host, Shape shape) {
  using T = std::remove_cvref_t<decltype(*std::data(host))>;
  detail::check_holds(shape, std::size(host));
  TensorOf<T> made(std::move(shape));
  if (!made.empty()) detail::copy_from_host(made, std::data(host));
  return made;
}
template <class R>
requires requires(const R& host) { std::span(std::data(host), std::size(host)); }
auto from_host(const R& host) { return from_host(host, Shape(std::size(host))); }
template <class T>
TensorOf<T> from_host(std::initializer_list<T> host) {
  return from_host(std::span<const T>(host.begin(), host.size()));
}

/// Returns the elements, in order, in host memory. Throws InvalidArgument for a tensor without
/// data.
template <class T>
std::vector<T> to_host(const TensorOf<T>& tensor, Place place = Place::current()) {
  require_data(Slice(tensor).data(), "to_host", place);
  detail::check_delivered("to_host", tensor, place);
  // A std::vector<bool> has no bytes to copy to.
  using Bytes = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;
  std::vector<Bytes> host(static_cast<std::size_t>(tensor.size()));
  if (!tensor.empty()) detail::copy_to_host(host.data(), tensor);
  if constexpr (std::is_same_v<T, Bytes>) {
    return host;
  } else {
    return std::vector<T>(host.begin(), host.end());
  }
}

// ---- Tensors: arithmetic --------------------------------------------------------------------

template <class T>
TensorOf<T>& operator+=(TensorOf<T>& into, SliceHere from) {
  return accumulate(into, from.slice, ReduceOp::SUM, from.place), into;
}
template <class T>
TensorOf<T>& operator-=(TensorOf<T>& into, SliceHere from) {
  return axpy(into, -1, from.slice, from.place), into;
}
template <class T>
TensorOf<T>& operator*=(TensorOf<T>& into, SliceHere from) {
  return accumulate(into, from.slice, ReduceOp::PRODUCT, from.place), into;
}
template <class T>
TensorOf<T>& operator*=(TensorOf<T>& into, std::type_identity_t<NumberHere<T>> factor) {
  return detail::scale(into, static_cast<detail::Scalar<T>>(factor.number), factor.place), into;
}
template <class T>
TensorOf<T>& operator/=(TensorOf<T>& into, std::type_identity_t<NumberHere<T>> divisor) {
  return detail::divide(into, static_cast<detail::Scalar<T>>(divisor.number), divisor.place), into;
}

/// Returns a new tensor of the larger (smaller) elements: one reduction. Assign it, or the result
/// is lost: `tensor = maximum(tensor, received)`.
template <class T>
[[nodiscard]] TensorOf<T> maximum(const TensorOf<T>& a, const TensorOf<T>& b,
                                  Place place = Place::current()) {
  TensorOf<T> made = clone(a, place);
  rankbox::accumulate(made, b, ReduceOp::MAX, place);  // std::accumulate is found, too
  return made;
}
template <class T>
[[nodiscard]] TensorOf<T> minimum(const TensorOf<T>& a, const TensorOf<T>& b,
                                  Place place = Place::current()) {
  TensorOf<T> made = clone(a, place);
  rankbox::accumulate(made, b, ReduceOp::MIN, place);  // std::accumulate is found, too
  return made;
}

}  // namespace rankbox
