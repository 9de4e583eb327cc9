// The first element with a property, for checks of what a tensor holds.
//
//   const auto bad = first_of(n, [=] RANKBOX_PORTABLE(std::int64_t i) { return x[i] < 0; });
//   if (bad < n) throw …
//
// Cost: one sweep. On a GPU it blocks until the rank's stream has finished: the host needs the
// result. Thread safety: as for_each. Errors: as for_each and to_host().
#pragma once

#include <algorithm>
#include <cstdint>

#include "comm/tensor.h"
#include "compute/for_each_row.h"

namespace rankbox {

namespace detail {

/// Finds the first element of a row, as its distance from the end; 0 if there is none.
template <class F>
struct FindInRow {
  static constexpr std::int64_t kColumns = 4096;
  std::int64_t n;
  F is_one;
  std::int64_t* found;
  RANKBOX_PORTABLE void operator()(Lanes lanes, std::int64_t row) const {
    const std::int64_t begin = row * kColumns;
    const std::int64_t width = n - begin < kColumns ? n - begin : kColumns;
    const std::int64_t all = n;
    const F& wanted = is_one;
    std::int64_t* const to = found + row;
    const std::int64_t farthest = lanes.max<std::int64_t>(width, [&](std::int64_t i) {
      return wanted(begin + i) ? all - begin - i : std::int64_t{0};
    });
    lanes.each(1, [=](std::int64_t) { *to = farthest; });
  }
};

struct FindFarthest {
  std::int64_t rows;
  const std::int64_t* found;
  std::int64_t* farthest;
  RANKBOX_PORTABLE void operator()(Lanes lanes, std::int64_t) const {
    const std::int64_t* const from = found;
    std::int64_t* const to = farthest;
    const std::int64_t all =
        lanes.max<std::int64_t>(rows, [=](std::int64_t row) { return from[row]; });
    lanes.each(1, [=](std::int64_t) { *to = all; });
  }
};

}  // namespace detail

/// Returns the smallest i, 0 <= i < n, for which is_one(i) is true; n if there is none. May call
/// is_one for later elements, too, and more than once.
template <class F>
[[gnu::flatten]] std::int64_t first_of(std::int64_t n, F is_one) {
  if constexpr (kOnGpu) {
    if (n == 0) return n;
    constexpr std::int64_t kColumns = detail::FindInRow<F>::kColumns;
    const std::int64_t rows = (n + kColumns - 1) / kColumns;
    TensorOf<std::int64_t> found(rows), farthest(1);
    for_each_row(rows, detail::FindInRow<F>{n, is_one, found.data()});
    for_each_row(1, detail::FindFarthest{rows, found.data(), farthest.data()});
    return n - to_host(farthest).front();
  } else {
    constexpr std::int64_t kBlock = 1024;
    for (std::int64_t begin = 0; begin < n; begin += kBlock) {
      const std::int64_t end = std::min(begin + kBlock, n);
      int any = 0;  // a loop without an exit, whose result is no bool, is vectorized
      for (std::int64_t i = begin; i < end; ++i) any |= is_one(i) ? 1 : 0;
      if (any != 0) {
        std::int64_t i = begin;
        while (!is_one(i)) ++i;
        return i;
      }
    }
    return n;
  }
}

}  // namespace rankbox
