// Computation on rows, each of which is summed or searched: a warp per row on a GPU.
//
//   for_each_row(rows, [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
//     const T* const from = x + row * width;
//     const T sum = lanes.sum<T>(width, [=](std::int64_t i) { return from[i]; });
//     lanes.each(width, [=](std::int64_t i) { y[row * width + i] = from[i] / sum; });
//   });
//
// Every lane executes the code outside of sum, max and each. Inside, a lane has the elements
// i = lane, lane + kWidth, …: it may read what it wrote itself, but not what other lanes wrote.
// REQUIRES: all lanes of a row make the same calls of sum and max, which exchange values.
//
// Cost, thread safety, errors: as for_each.
#pragma once

#include <cstdint>
#include <limits>

#include "compute/for_each.h"

namespace rankbox {

/// The threads that share a row: the lanes of a warp, one on the host.
class Lanes {
 public:
#if defined(__CUDACC__)
  static constexpr int kWidth = 32;
#else
  static constexpr int kWidth = 1;
#endif

  RANKBOX_PORTABLE explicit Lanes(std::int64_t lane) : lane_(lane) {}

  /// f(i) for 0 <= i < width, each by one lane.
  template <class F>
  RANKBOX_PORTABLE void each(std::int64_t width, F f) const {
    for (std::int64_t i = lane_; i < width; i += kWidth) f(i);
  }

  /// Σ f(i) over 0 <= i < width, on every lane. On the host in that order. T is a number or a Pair.
  template <class T, class F>
  RANKBOX_PORTABLE T sum(std::int64_t width, F f) const {
    T sum{};
    for (std::int64_t i = lane_; i < width; i += kWidth) sum += f(i);
#if defined(__CUDA_ARCH__)
    for (int distance = kWidth / 2; distance > 0; distance /= 2) sum += of_lane(sum, distance);
#endif
    return sum;
  }

  /// The largest f(i) over 0 <= i < width, on every lane; T's smallest value if there is none.
  template <class T, class F>
  RANKBOX_PORTABLE T max(std::int64_t width, F f) const {
    using Limits = std::numeric_limits<T>;
    T largest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    for (std::int64_t i = lane_; i < width; i += kWidth) {
      const T value = f(i);
      largest = largest < value ? value : largest;
    }
#if defined(__CUDA_ARCH__)
    for (int distance = kWidth / 2; distance > 0; distance /= 2) {
      const T value = of_lane(largest, distance);
      largest = largest < value ? value : largest;
    }
#endif
    return largest;
  }

 private:
#if defined(__CUDA_ARCH__)
  /// Returns the value of the lane whose number differs in the bit `distance`.
  template <class T>
  static __device__ T of_lane(T value, int distance) {
    return __shfl_xor_sync(0xffffffffU, value, distance);
  }
  template <class T>
  static __device__ Pair<T> of_lane(Pair<T> value, int distance) {
    return {of_lane(value.first, distance), of_lane(value.second, distance)};
  }
#endif

  std::int64_t lane_;
};

namespace detail {

template <class F>
struct InRow {
  F f;
  RANKBOX_PORTABLE void operator()(std::int64_t i) const {
    f(Lanes(i % Lanes::kWidth), i / Lanes::kWidth);
  }
};

}  // namespace detail

/// f(lanes, row) for 0 <= row < rows, in any order.
template <class F>
void for_each_row(std::int64_t rows, F f) {
  for_each(rows * Lanes::kWidth, detail::InRow<F>{f});
}

}  // namespace rankbox
