// Sums over the rows of a grid, for each column: gradients of biases, statistics of channels.
//
//   sum_columns(rows, columns, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t column) {
//     return dy[row * columns + column];
//   }, dbias);
//
// Deterministic: the order of additions depends on the sizes alone. On the host it is that of the
// rows. On a GPU the rows are cut into stripes, summed by a thread per stripe and column, and then
// the stripes' sums are added, in order.
//
// Cost, thread safety, errors: as for_each; on a GPU two launches and memory for the stripes' sums
// (OutOfMemory).
#pragma once

#include <algorithm>
#include <cstdint>

#include "comm/tensor.h"
#include "compute/for_each.h"

namespace rankbox {

namespace detail {

template <class A>
struct ColumnSums {
  using Element = A;
  using Value = A;
  A* sums;
  RANKBOX_PORTABLE void add(std::int64_t column, A value) const { sums[column] += value; }
};

template <class A>
struct ColumnPairs {
  using Element = A;
  using Value = Pair<A>;
  A* first;
  A* second;
  RANKBOX_PORTABLE void add(std::int64_t column, Pair<A> value) const {
    first[column] += value.first;
    second[column] += value.second;
  }
};

/// The sum of one stripe, in one column.
template <class Value, class F>
struct SumStripe {
  std::int64_t rows, stripe_rows, columns;
  F f;
  Value* partial;
  RANKBOX_PORTABLE void operator()(std::int64_t stripe, std::int64_t column) const {
    const std::int64_t begin = stripe * stripe_rows;
    const std::int64_t end = begin + stripe_rows < rows ? begin + stripe_rows : rows;
    Value sum{};
    for (std::int64_t row = begin; row < end; ++row) sum += f(row, column);
    partial[stripe * columns + column] = sum;
  }
};

template <class Sums>
struct AddStripes {
  std::int64_t stripes, columns;
  const typename Sums::Value* partial;
  Sums into;
  RANKBOX_PORTABLE void operator()(std::int64_t column) const {
    typename Sums::Value sum{};
    for (std::int64_t stripe = 0; stripe < stripes; ++stripe)
      sum += partial[stripe * columns + column];
    into.add(column, sum);
  }
};

template <class Sums, class F>
void sum_columns_into(std::int64_t rows, std::int64_t columns, F f, Sums into) {
  if (rows == 0 || columns == 0) return;
  if constexpr (kOnGpu) {
    using Value = typename Sums::Value;
    constexpr std::int64_t kFewestRows = 16;      // of a stripe
    constexpr std::int64_t kMostThreads = 65536;  // more would only add to the second pass
    const std::int64_t most = (kMostThreads + columns - 1) / columns;
    const std::int64_t wanted = std::clamp<std::int64_t>(rows / kFewestRows, 1, most);
    const std::int64_t stripe_rows = (rows + wanted - 1) / wanted;
    const std::int64_t stripes = (rows + stripe_rows - 1) / stripe_rows;
    constexpr std::int64_t kElements = sizeof(Value) / sizeof(typename Sums::Element);
    TensorOf<typename Sums::Element> memory(stripes * columns * kElements);
    auto* const partial = reinterpret_cast<Value*>(memory.data());
    for_each(stripes, columns, SumStripe<Value, F>{rows, stripe_rows, columns, f, partial});
    for_each(columns, AddStripes<Sums>{stripes, columns, partial, into});
  } else {
    on_vectors([=](auto) {
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) into.add(column, f(row, column));
      }
    });
  }
}

}  // namespace detail

/// sums[column] += Σ over the rows of f(row, column).
template <class A, class F>
void sum_columns(std::int64_t rows, std::int64_t columns, F f, A* sums) {
  detail::sum_columns_into(rows, columns, f, detail::ColumnSums<A>{sums});
}

/// Two sums of one sweep: f returns a Pair<A>.
template <class A, class F>
void sum_columns(std::int64_t rows, std::int64_t columns, F f, A* first, A* second) {
  detail::sum_columns_into(rows, columns, f, detail::ColumnPairs<A>{first, second});
}

}  // namespace rankbox
