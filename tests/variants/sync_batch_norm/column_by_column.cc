// One feature after the other, as a class that knows its column.
#include <cmath>
#include <vector>

#include "parallel/sync_batch_norm.h"

namespace rankbox {

namespace {

struct Column {
  const Tensor& matrix;
  std::int64_t f;

  std::int64_t rows() const { return matrix.shape().extents()[0]; }
  std::int64_t place(std::int64_t row) const { return row * matrix.shape().extents()[1] + f; }
  double at(std::int64_t row) const { return matrix.data()[place(row)]; }

  template <class Term>
  double sum(Term term) const {
    double all = 0;
    for (std::int64_t row = rows(); row-- > 0;) all += term(row);
    return all;
  }
};

std::vector<double> summed(Comm& dist, const std::vector<double>& mine) {
  auto sums = from_host(mine);
  dist.wait(dist.all_reduce_async(sums, ReduceOp::SUM));
  return to_host(sums);
}

}  // namespace

void sync_batch_norm(Comm& dist, const Tensor& x, const Tensor& dy, float epsilon, Tensor& y,
                     Tensor& dx) {
  const auto features = static_cast<std::size_t>(x.shape().extents()[1]);
  const auto column_of = [](const Tensor& matrix, std::size_t f) {
    return Column{matrix, static_cast<std::int64_t>(f)};
  };
  std::vector<double> mine(2 * features + 1);
  for (std::size_t f = 0; f < features; ++f) {
    const Column column = column_of(x, f);
    mine[f] = column.sum([&](std::int64_t row) { return column.at(row); });
    mine[features + f] = column.sum([&](std::int64_t row) { return std::pow(column.at(row), 2); });
    mine.back() = static_cast<double>(column.rows());
  }
  const std::vector<double> sums = summed(dist, mine);
  const double n = sums.back();

  std::vector<double> scales, back(2 * features);
  for (std::size_t f = 0; f < features; ++f) {
    const Column in = column_of(x, f), slope = column_of(dy, f), out = column_of(y, f);
    const double mean = sums[f] / n;
    scales.push_back(1 / std::sqrt(sums[features + f] / n - mean * mean + double{epsilon}));
    for (std::int64_t row = 0; row < in.rows(); ++row)
      y.data()[in.place(row)] = static_cast<float>((in.at(row) - mean) * scales[f]);
    back[f] = slope.sum([&](std::int64_t row) { return slope.at(row); });
    back[features + f] = slope.sum([&](std::int64_t row) { return slope.at(row) * out.at(row); });
  }
  back = summed(dist, back);
  for (std::size_t f = 0; f < features; ++f) {
    const Column slope = column_of(dy, f), out = column_of(y, f);
    for (std::int64_t row = 0; row < slope.rows(); ++row) {
      const double rest = slope.at(row) - back[f] / n - out.at(row) * back[features + f] / n;
      dx.data()[slope.place(row)] = static_cast<float>(rest * scales[f]);
    }
  }
}

}  // namespace rankbox
