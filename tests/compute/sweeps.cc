#include "tests/compute/sweeps.h"

#include "compute/add_rows.h"
#include "compute/first_of.h"
#include "compute/for_each.h"
#include "compute/for_each_row.h"
#include "compute/sum_columns.h"

namespace rankbox::testing {

std::vector<double> squares(std::int64_t n) {
  TensorOf<double> made = zeros<double>(n);
  double* const to = made.data();
  for_each(n, [=] RANKBOX_PORTABLE(std::int64_t i) { to[i] += static_cast<double>(i * i); });
  return to_host(made);
}

std::vector<std::int64_t> places(std::int64_t rows, std::int64_t columns) {
  TensorOf<std::int64_t> made = zeros<std::int64_t>(rows * columns);
  std::int64_t* const to = made.data();
  for_each(rows, columns, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t column) {
    to[row * columns + column] += 100 * row + column;
  });
  return to_host(made);
}

RowResults of_rows(const Tensor& x, std::int64_t width) {
  const std::int64_t rows = width == 0 ? 3 : x.size() / width;
  TensorOf<double> sums(rows), squares(rows), largest(rows);
  Tensor doubled(x.size());
  const float* const xs = x.data();
  float* const twice = doubled.data();
  double *const sum = sums.data(), *const square = squares.data(), *const most = largest.data();
  for_each_row(rows, [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
    const float* const from = xs + row * width;
    const auto both = lanes.sum<Pair<double>>(width, [=](std::int64_t i) {
      const double value = from[i];
      return Pair<double>{value, value * value};
    });
    const float top = lanes.max<float>(width, [=](std::int64_t i) { return from[i]; });
    lanes.each(width, [=](std::int64_t i) { twice[row * width + i] = 2 * from[i]; });
    lanes.each(1, [=](std::int64_t) {
      sum[row] = both.first;
      square[row] = both.second;
      most[row] = top;
    });
  });
  return {to_host(sums), to_host(squares), to_host(largest), to_host(doubled)};
}

Pair<std::vector<double>> column_sums(const Tensor& x, std::int64_t columns, double before) {
  TensorOf<double> first = full<double>(columns, before), second = full<double>(columns, before);
  const float* const xs = x.data();
  sum_columns(
      columns == 0 ? 5 : x.size() / columns, columns,
      [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t column) {
        const double value = xs[row * columns + column];
        return Pair<double>{value, value * value};
      },
      first.data(), second.data());
  return {to_host(first), to_host(second)};
}

std::vector<float> column_sums_alone(const Tensor& x, std::int64_t columns, float before) {
  Tensor sums = full(columns, before);
  const float* const xs = x.data();
  sum_columns(
      columns == 0 ? 5 : x.size() / columns, columns,
      [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t column) {
        return xs[row * columns + column];
      },
      sums.data());
  return to_host(sums);
}

std::int64_t first_that_is(const TensorOf<std::int32_t>& all, std::int32_t x) {
  const std::int32_t* const from = all.data();
  return first_of(all.size(), [=] RANKBOX_PORTABLE(std::int64_t i) { return from[i] == x; });
}

std::vector<float> table_after(const TensorOf<std::int32_t>& targets, const Tensor& x,
                               std::int64_t width, std::int64_t entries) {
  Tensor table = full(entries * width, 1);
  const std::int32_t* const target = targets.data();
  add_rows(
      targets.size(), width,
      [=] RANKBOX_PORTABLE(std::int64_t row) { return static_cast<std::int64_t>(target[row]); },
      x.data(), entries, table.data());
  return to_host(table);
}

void read_from_host() {
  TensorOf<double> made(1);
  const std::vector<double> host = {3};
  const double* const from = host.data();
  double* const to = made.data();
  for_each(1, [=] RANKBOX_PORTABLE(std::int64_t i) { to[i] = from[i]; });
  to_host(made);
}

}  // namespace rankbox::testing
