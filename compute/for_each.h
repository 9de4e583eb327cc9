// Element-wise computation on tensors: a loop on the host, a kernel on a GPU.
//
//   for_each(n, [=] RANKBOX_PORTABLE(std::int64_t i) { w[i] -= rate * g[i]; });
//
// A file that calls it is compiled as portable_library (bazel/cuda.bzl) says.
//
// Cost: on a GPU one launch on the rank's stream; it returns when that is enqueued. On the host it
// blocks until done, and code that is inlined into the loop is vectorized where possible.
// Thread safety: any number of threads. Errors: none on the host; CudaError.
#pragma once

#include <cstdint>

#include "compute/portable.h"
#if defined(RANKBOX_BACKEND_NCCL)
#include "gpu/compute/for_each.h"
#else
#include "compute/vectors.h"
#endif

namespace rankbox {

namespace detail {

template <class F>
struct InGrid {
  std::int64_t columns;
  F f;
  RANKBOX_PORTABLE void operator()(std::int64_t i) const { f(i / columns, i % columns); }
};

}  // namespace detail

#if defined(RANKBOX_BACKEND_NCCL)

template <class F>
void for_each(std::int64_t n, F f) {
  gpu::enqueue_for_each(n, f);
}
template <class F>
void for_each(std::int64_t rows, std::int64_t columns, F f) {
  gpu::enqueue_for_each(rows * columns, detail::InGrid<F>{columns, f});
}

#else

/// f(i) for 0 <= i < n, in any order. REQUIRES: the calls do not depend on each other.
template <class F>
void for_each(std::int64_t n, F f) {
  on_vectors([=](auto) {
    for (std::int64_t i = 0; i < n; ++i) f(i);
  });
}

/// f(row, column) for all of a grid, in any order. On the host column is the inner loop: what
/// depends on the row alone is computed once a row.
template <class F>
void for_each(std::int64_t rows, std::int64_t columns, F f) {
  on_vectors([=](auto) {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) f(row, column);
    }
  });
}

#endif

}  // namespace rankbox
