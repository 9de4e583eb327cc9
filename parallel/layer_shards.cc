#include "parallel/layer_shards.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm/errors.h"
#include "compute/for_each.h"
#include "compute/sum_columns.h"

namespace rankbox {

Tensor row_part(const Tensor& whole, int rank, int world_size) {
  std::vector<std::int64_t> extents = whole.shape().extents();
  const std::int64_t begin = extents[0] * rank / world_size;
  const std::int64_t end = extents[0] * (rank + 1) / world_size;
  const std::int64_t width = whole.size() / std::max<std::int64_t>(extents[0], 1);
  extents[0] = end - begin;
  Tensor part((Shape(extents)));
  copy(part, Slice(whole).sub(begin * width, end * width));
  return part;
}

Tensor column_part(const Tensor& whole, int rank, int world_size) {
  std::vector<std::int64_t> extents = whole.shape().extents();
  const std::int64_t width = extents.back();
  const std::int64_t begin = width * rank / world_size;
  const std::int64_t own = width * (rank + 1) / world_size - begin;
  extents.back() = own;
  Tensor part((Shape(extents)));
  const float* const from = whole.data();
  float* const to = part.data();
  const std::int64_t rows = whole.size() / std::max<std::int64_t>(width, 1);
  for_each(rows, own, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t column) {
    to[row * own + column] = from[row * width + begin + column];
  });
  return part;
}

namespace {

void check_bias(const char* call, std::int64_t elements, std::int64_t bias) {
  if (bias > 0 && elements % bias == 0) return;
  throw InvalidArgument(
      fmt::format("{}: {} elements are not rows of {}, the bias; row_shard() has none: pass the "
                  "whole layer's",
                  call, elements, bias));
}

}  // namespace

void add_bias(Tensor& y, const Tensor& bias) {
  check_bias("add_bias", y.size(), bias.size());
  const std::int64_t out = bias.size();
  float* const ys = y.data();
  const float* const bs = bias.data();
  for_each(y.size() / out, out, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t column) {
    ys[row * out + column] += bs[column];
  });
}

void add_bias_gradient(const Tensor& dy, Tensor& gradient) {
  check_bias("add_bias_gradient", dy.size(), gradient.size());
  const std::int64_t out = gradient.size();
  const float* const dys = dy.data();
  sum_columns(
      dy.size() / out, out,
      [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t column) {
        return dys[row * out + column];
      },
      gradient.data());
}

}  // namespace rankbox
