// The arithmetic of comm/tensor.h on host memory. The one file of the sandbox that includes
// xtensor.
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>
#include <xtensor/xadapt.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>

#include "comm/errors.h"
#include "comm/tensor.h"
#include "sim/ownership.h"
#include "sim/rank_state.h"

namespace rankbox {
namespace {

/// Calls fn with a value of the C++ type that dtype stands for.
template <class Fn>
void with_type(DType dtype, Fn fn) {
  switch (dtype) {
    case DType::kFloat32:
      return fn(float{});
    case DType::kFloat64:
      return fn(double{});
    case DType::kInt32:
      return fn(std::int32_t{});
    case DType::kInt64:
      return fn(std::int64_t{});
  }
}

template <class T>
auto view(void* data, std::int64_t count) {
  const auto size = static_cast<std::size_t>(count);
  return xt::adapt(static_cast<T*>(data), size, xt::no_ownership(),
                   std::array<std::size_t, 1>{size});
}
template <class T>
auto view(const void* data, std::int64_t count) {
  const auto size = static_cast<std::size_t>(count);
  return xt::adapt(static_cast<const T*>(data), size, xt::no_ownership(),
                   std::array<std::size_t, 1>{size});
}

[[noreturn]] void fail(const char* function, const std::string& problem) {
  const sim::RankState* rank = sim::current_rank();
  ErrorContext context;
  context.op = function;
  if (rank != nullptr) context.rank = rank->rank;
  throw InvalidArgument(
      fmt::format("{}{}: {}", rank == nullptr ? "" : fmt::format("rank {}, ", rank->rank), function,
                  problem),
      context);
}

void check_owner(const char* function, Slice slice) {
  const sim::RankState* rank = sim::current_rank();
  const int owner = rank == nullptr ? -1 : sim::foreign_owner(*rank, slice);
  if (owner >= 0) {
    fail(function, fmt::format("the slice belongs to a tensor of rank {}; ranks share no memory on "
                               "real machines: receive it",
                               owner));
  }
}

void check_target(const char* function, Slice into) {
  if (into.is_null()) fail(function, "the target slice is null; pass a tensor, or chunk() of one");
  if (into.read_only()) fail(function, "the target is part of a const tensor");
  check_owner(function, into);
}

void check_pair(const char* function, Slice into, Slice from) {
  check_target(function, into);
  if (from.is_null()) fail(function, "the source slice is null; pass a tensor, or chunk() of one");
  if (into.size() != from.size()) {
    fail(function, fmt::format("sizes {} and {} differ", into.size(), from.size()));
  }
  if (into.dtype() != from.dtype()) {
    fail(function,
         fmt::format("dtypes {} and {} differ", name_of(into.dtype()), name_of(from.dtype())));
  }
  check_owner(function, from);
  if (into.data() != from.data() && sim::overlap(into, from)) {
    fail(function, "the two slices overlap without being the same; work on a clone() of one");
  }
}

bool is_integer(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

/// What integers are multiplied with or divided by has to be one.
template <class Scalar>
void check_whole(const char* function, Slice into, Scalar value) {
  if constexpr (std::is_floating_point_v<Scalar>) {
    const double limit = into.dtype() == DType::kInt32 ? 0x1p31 : 0x1p63;
    const bool fits = value >= -limit && value < limit && value == std::trunc(value);
    if (is_integer(into.dtype()) && !fits) {
      fail(function, fmt::format("{} is no {}", value, name_of(into.dtype())));
    }
  }
}

/// Integers that overflow wrap around: unsigned ones are defined to.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

/// into = into op from, element by element.
template <class T>
void reduce(Slice into, Slice from, ReduceOp op) {
  auto x = view<T>(into.data(), into.size());
  const auto y = view<T>(static_cast<const void*>(from.data()), from.size());
  auto wrapping_x = view<Wrapping<T>>(into.data(), into.size());
  const auto wrapping_y = view<Wrapping<T>>(static_cast<const void*>(from.data()), from.size());
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::AVG:
      xt::noalias(wrapping_x) += wrapping_y;
      break;
    case ReduceOp::PRODUCT:
      xt::noalias(wrapping_x) *= wrapping_y;
      break;
    case ReduceOp::MAX:
      xt::noalias(x) = xt::maximum(x, y);
      break;
    case ReduceOp::MIN:
      xt::noalias(x) = xt::minimum(x, y);
      break;
  }
}

template <class Scalar>
void fill_with(Slice into, Scalar value) {
  if (into.size() == 0) return;
  check_target("full", into);
  with_type(into.dtype(),
            [&]<class T>(T) { view<T>(into.data(), into.size()).fill(static_cast<T>(value)); });
}

template <class Scalar>
void scale_by(Slice into, Scalar factor) {
  check_target("*=", into);
  check_whole("*=", into, factor);
  if (into.size() == 0) return;
  with_type(into.dtype(), [&]<class T>(T) {
    view<Wrapping<T>>(into.data(), into.size()) *= static_cast<Wrapping<T>>(static_cast<T>(factor));
  });
}

template <class Scalar>
void divide_by(Slice into, Scalar divisor) {
  check_target("/=", into);
  check_whole("/=", into, divisor);
  if (is_integer(into.dtype())) {
    if (divisor == Scalar{0}) fail("/=", "integers cannot be divided by 0");
    // The smallest integer has no opposite, and dividing it would trap.
    if (divisor == Scalar{-1}) return scale_by(into, divisor);
  }
  if (into.size() == 0) return;
  with_type(into.dtype(),
            [&]<class T>(T) { view<T>(into.data(), into.size()) /= static_cast<T>(divisor); });
}

}  // namespace

void accumulate(Slice into, Slice from, ReduceOp op) {
  check_pair("accumulate", into, from);
  const auto compute = [&] {
    if (into.size() > 0) with_type(into.dtype(), [&]<class T>(T) { reduce<T>(into, from, op); });
  };
  sim::RankState* rank = sim::current_rank();
  if (rank == nullptr) return compute();
  rank->recorder.reserve();
  Event& event = rank->recorder.begin(EventKind::kReduce, Place());
  event.bytes = from.bytes();
  event.dtype = from.dtype();
  event.op = op;
  compute();
  rank->recorder.end(event, into);
}

void copy(Slice into, Slice from) {
  check_pair("copy", into, from);
  // memmove: copying a slice onto itself is allowed.
  if (from.size() > 0)
    std::memmove(into.data(), from.data(), static_cast<std::size_t>(from.bytes()));
}

namespace detail {

void copy_from_host(Slice into, const void* from) {
  std::memcpy(into.data(), from, static_cast<std::size_t>(into.bytes()));
}
void copy_to_host(void* into, Slice from) {
  std::memcpy(into, from.data(), static_cast<std::size_t>(from.bytes()));
}

void fill(Slice into, double value) { fill_with(into, value); }
void fill(Slice into, std::int64_t value) { fill_with(into, value); }
void scale(Slice into, double factor) { scale_by(into, factor); }
void scale(Slice into, std::int64_t factor) { scale_by(into, factor); }
void divide(Slice into, double divisor) { divide_by(into, divisor); }
void divide(Slice into, std::int64_t divisor) { divide_by(into, divisor); }

}  // namespace detail
}  // namespace rankbox
