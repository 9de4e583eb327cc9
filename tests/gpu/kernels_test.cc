// The kernels against plain loops: every type and operation, at any alignment.
#include "gpu/kernels/kernels.h"

#include <doctest/doctest.h>

#include "gpu/device/devices.h"
#include "gpu/device/rank_device.h"
#include "tests/gpu/guarded_memory.h"
#include "tests/gpu/reference_math.h"

namespace rankbox::gpu {
namespace {

using Kind = SmallOperation::Kind;

constexpr std::int64_t kShort[] = {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33};
// Lengths around a tile of 1024 packs, and more than one tile.
constexpr std::int64_t kLong[] = {1023, 2048, 4096, 4097, 8191, 8192, 8193, 100003};

/// Calls test(T{}) for every element type.
template <class Test>
void for_each_type(Test test) {
  for (const DType dtype : kDTypes) {
    CAPTURE(name_of(dtype));
    with_number_type(dtype, test);
  }
}

template <class T>
void test_accumulate(RankDevice& gpu, ReduceOp op, std::int64_t count, int into_offset,
                     int from_offset) {
  CAPTURE(name_of(op));
  CAPTURE(count);
  CAPTURE(into_offset);
  CAPTURE(from_offset);
  const std::vector<T> x = some_values<T>(count, 1);
  const std::vector<T> y = some_values<T>(count, 2);
  const GuardedMemory<T> into(gpu, x, into_offset);
  const GuardedMemory<T> from(gpu, y, from_offset);
  launch_accumulate(into.data(), from.data(), count, dtype_of<T>(), op, gpu.stream());
  CHECK(first_difference(into.values(), reference(op, x, y)) == -1);
  CHECK(into.guards_hold());
  CHECK(from.unchanged());
}

TEST_CASE("accumulate computes what a loop does, for short slices that begin anywhere") {
  RankDevice gpu(0, 0);
  for_each_type([&]<class T>(T) {
    for (const ReduceOp op : kReduceOps) {
      for (const std::int64_t count : kShort) {
        for (int into_offset = 0; into_offset < 8; ++into_offset) {
          for (int from_offset = 0; from_offset < 8; ++from_offset) {
            test_accumulate<T>(gpu, op, count, into_offset, from_offset);
          }
        }
      }
    }
  });
}

TEST_CASE("accumulate computes what a loop does, for long slices") {
  constexpr int kOffsets[][2] = {{0, 0}, {1, 1}, {3, 0}, {0, 5}, {7, 2}};
  RankDevice gpu(0, 0);
  for_each_type([&]<class T>(T) {
    for (const ReduceOp op : kReduceOps) {
      for (const std::int64_t count : kLong) {
        if (count > 10000 && op != ReduceOp::SUM) continue;
        for (const auto& [into_offset, from_offset] : kOffsets) {
          test_accumulate<T>(gpu, op, count, into_offset, from_offset);
        }
      }
    }
  });
}

TEST_CASE("accumulate goes around the grid more than once") {
  RankDevice gpu(0, 0);
  // 64 blocks per multiprocessor, 1024 packs of 2 per block.
  const std::int64_t count = std::int64_t{device_info(0).multiprocessors} * 64 * 1024 * 2 + 5000;
  test_accumulate<double>(gpu, ReduceOp::SUM, count, 1, 1);
  test_accumulate<double>(gpu, ReduceOp::SUM, count, 1, 0);
}

TEST_CASE("accumulate of a slice with itself") {
  RankDevice gpu(0, 0);
  for_each_type([&]<class T>(T) {
    const std::vector<T> x = some_values<T>(5000, 3);
    const GuardedMemory<T> both(gpu, x, 1);
    launch_accumulate(both.data(), both.data(), 5000, dtype_of<T>(), ReduceOp::SUM, gpu.stream());
    CHECK(first_difference(both.values(), reference(ReduceOp::SUM, x, x)) == -1);
  });
}

TEST_CASE("accumulate of all pairs of special values: wrapping, infinite, NaN, tiny") {
  RankDevice gpu(0, 0);
  for_each_type([&]<class T>(T) {
    std::vector<T> x;
    std::vector<T> y;
    for (const T first : special_values<T>()) {
      for (const T second : special_values<T>()) {
        x.push_back(first);
        y.push_back(second);
      }
    }
    const auto count = static_cast<std::int64_t>(x.size());
    for (const ReduceOp op : kReduceOps) {
      for (const int from_offset : {0, 1}) {
        CAPTURE(name_of(op));
        CAPTURE(from_offset);
        const GuardedMemory<T> into(gpu, x, 0);
        const GuardedMemory<T> from(gpu, y, from_offset);
        launch_accumulate(into.data(), from.data(), count, dtype_of<T>(), op, gpu.stream());
        CHECK(first_difference(into.values(), reference(op, x, y)) == -1);
      }
    }
  });
}

/// Calls launch(data, count) for slices of many lengths and alignments, and compares each resulting
/// element with expected(x).
template <class T, class Launch, class Expected>
void test_change(RankDevice& gpu, Launch launch, Expected expected) {
  const auto test = [&](const std::vector<T>& x, int offset) {
    CAPTURE(x.size());
    CAPTURE(offset);
    const GuardedMemory<T> into(gpu, x, offset);
    launch(into.data(), static_cast<std::int64_t>(x.size()));
    std::vector<T> should_be = x;
    for (T& value : should_be) value = expected(value);
    CHECK(first_difference(into.values(), should_be) == -1);
    CHECK(into.guards_hold());
  };
  for (int offset = 0; offset < 8; ++offset) {
    for (const std::int64_t count : kShort) test(some_values<T>(count, 4), offset);
    test(some_values<T>(4097, 5), offset);
    test(special_values<T>(), offset);
  }
}

/// Converts a scalar of comm/tensor.h to the type of the computation.
template <class T, class Scalar>
auto converted(Scalar scalar) {
  const T value = static_cast<T>(scalar);
  if constexpr (ReducedFloat<T>) {
    return float{value};
  } else {
    return value;
  }
}

TEST_CASE("fill writes the converted value, and nothing beside it") {
  RankDevice gpu(0, 0);
  for_each_type([&]<class T>(T) {
    for (const double value : {0.0, 1.0, -3.0, 2.75, 1e9}) {
      CAPTURE(value);
      test_change<T>(
          gpu,
          [&](T* data, std::int64_t count) {
            launch_change(Kind::kFill, data, count, dtype_of<T>(),
                          small_value(dtype_of<T>(), value), gpu.stream());
          },
          [&](T) { return static_cast<T>(value); });
    }
    const std::int64_t whole = -7;
    test_change<T>(
        gpu,
        [&](T* data, std::int64_t count) {
          launch_change(Kind::kFill, data, count, dtype_of<T>(), small_value(dtype_of<T>(), whole),
                        gpu.stream());
        },
        [&](T) { return static_cast<T>(whole); });
  });
}

TEST_CASE("fill keeps all 64 bits of an integer") {
  RankDevice gpu(0, 0);
  const std::int64_t odd = (std::int64_t{1} << 62) + 1;  // no double represents it
  const GuardedMemory<std::int64_t> into(gpu, {1, 2, 3}, 1);
  launch_change(Kind::kFill, into.data(), 3, DType::kInt64, small_value(DType::kInt64, odd),
                gpu.stream());
  CHECK(into.values() == std::vector<std::int64_t>{odd, odd, odd});
}

template <class T, class Scalar>
void test_scale(RankDevice& gpu, Scalar factor) {
  CAPTURE(factor);
  test_change<T>(
      gpu,
      [&](T* data, std::int64_t count) {
        launch_change(Kind::kScale, data, count, dtype_of<T>(), small_value(dtype_of<T>(), factor),
                      gpu.stream());
      },
      [&](T x) {
        if constexpr (ReducedFloat<T>) {
          return T(float{x} * converted<T>(factor));
        } else {
          return reference(ReduceOp::PRODUCT, x, converted<T>(factor));
        }
      });
}

TEST_CASE("scale multiplies by the converted factor; integers wrap around") {
  RankDevice gpu(0, 0);
  for_each_type([&]<class T>(T) {
    test_scale<T>(gpu, 3.0);
    test_scale<T>(gpu, -1.0);
    test_scale<T>(gpu, std::int64_t{1000003});
    if (!is_integer(dtype_of<T>())) test_scale<T>(gpu, 0.1);
  });
}

template <class T, class Scalar>
void test_divide(RankDevice& gpu, Scalar divisor) {
  CAPTURE(divisor);
  test_change<T>(
      gpu,
      [&](T* data, std::int64_t count) {
        launch_change(Kind::kDivide, data, count, dtype_of<T>(),
                      small_value(dtype_of<T>(), divisor), gpu.stream());
      },
      [&](T x) {
        if constexpr (ReducedFloat<T>) {
          return T(float{x} / converted<T>(divisor));
        } else if constexpr (std::is_integral_v<T>) {
          // The smallest integer has no opposite.
          if (divisor == Scalar{-1} && std::is_signed_v<T>)
            return reference(ReduceOp::PRODUCT, x, T(-1));
          return static_cast<T>(x / converted<T>(divisor));
        } else {
          return x / converted<T>(divisor);
        }
      });
}

TEST_CASE("divide rounds as the host does; integers towards zero") {
  RankDevice gpu(0, 0);
  for_each_type([&]<class T>(T) {
    test_divide<T>(gpu, 3.0);
    test_divide<T>(gpu, -7.0);
    test_divide<T>(gpu, std::int64_t{2});
    test_divide<T>(gpu, std::int64_t{-1});
    test_divide<T>(gpu, -1.0);
    if (!is_integer(dtype_of<T>())) {
      test_divide<T>(gpu, 0.0);
      test_divide<T>(gpu, 0.3);
    }
  });
}

TEST_CASE("warming launches every kernel and changes nothing") {
  RankDevice gpu(0, 0);
  warm_kernels(gpu.stream());
  CHECK_NOTHROW(gpu.synchronize(30));
}

}  // namespace
}  // namespace rankbox::gpu
