#include "training/layers/attention.h"

#include <cmath>

#include <fmt/format.h>

#include "comm/errors.h"
#include "compute/for_each_row.h"
#include "compute/matrix.h"
#include "training/rows.h"

namespace rankbox {
namespace {

/// The pieces of x, y and the weights.
struct HeadShape {
  std::int64_t batch, length, heads, d;

  HeadShape(const Shape& x, std::int64_t head_count)
      : batch(0), length(0), heads(head_count), d(0) {
    const std::vector<std::int64_t>& extents = x.extents();
    if (extents.size() != 3 || extents[2] % (3 * heads) != 0) {
      throw InvalidArgument(fmt::format(
          "attention: got an input of shape {}, expected [batch, length, q, k and v for {} heads]",
          to_string(x), heads));
    }
    batch = extents[0], length = extents[1], d = extents[2] / (3 * heads);
  }
  /// One head of all samples. Of x: part 0 is q, 1 is k, 2 is v.
  template <class T>
  MatricesOf<T> part(T* x, std::int64_t head, int part) const {
    const std::int64_t width = heads * 3 * d;
    return {{x + (head * 3 + part) * d, length, d, width}, length * width};
  }
  template <class T>
  MatricesOf<T> out(T* y, std::int64_t head) const {
    return {{y + head * d, length, d, heads * d}, length * heads * d};
  }
  template <class T>
  MatricesOf<T> weights(T* all, std::int64_t head) const {
    return {{all + head * length * length, length, length}, heads * length * length};
  }
};

/// Every row of matrix n becomes e^(s x), normalized to 1 over its first counts[n] elements; 0
/// after them.
template <class T>
void softmax_rows(std::int64_t matrices, MatricesOf<T> x, const std::int32_t* counts, T scale) {
  const std::int64_t rows = x.first.rows, width = x.first.columns;
  for_each_row(matrices * rows, [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
    T* const at = x.first.data + row / rows * x.step + row % rows * x.first.stride;
    const std::int64_t count = counts[row / rows];
    const T largest = lanes.max<T>(count, [=](std::int64_t j) { return at[j]; });
    const T sum = lanes.sum<T>(
        count, [=](std::int64_t j) { return at[j] = std::exp(scale * (at[j] - largest)); });
    lanes.each(width, [=](std::int64_t j) { at[j] = j < count ? at[j] / sum : T{0}; });
  });
}

/// dw, the derivatives by the weights w, become those by the input of softmax_rows.
template <class T>
void softmax_rows_backward(std::int64_t matrices, MatricesOf<const T> w, MatricesOf<T> dw,
                           T scale) {
  const std::int64_t rows = w.first.rows, width = w.first.columns;
  for_each_row(matrices * rows, [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
    const std::int64_t n = row / rows, i = row % rows;
    const T* const weight = w.first.data + n * w.step + i * w.first.stride;
    T* const d = dw.first.data + n * dw.step + i * dw.first.stride;
    const T sum = lanes.sum<T>(width, [=](std::int64_t j) { return weight[j] * d[j]; });
    lanes.each(width, [=](std::int64_t j) { d[j] = scale * weight[j] * (d[j] - sum); });
  });
}

/// [batch], before the padding.
std::vector<std::int32_t> lengths_of(const Pass& pass, const HeadShape& shape) {
  const auto batch = static_cast<std::size_t>(shape.batch);
  std::vector<std::int32_t> lengths(batch, static_cast<std::int32_t>(shape.length));
  if (pass.lengths.empty()) return lengths;
  for (std::size_t n = 0; n < batch; ++n) {
    const bool known = n < pass.lengths.size();
    if (known && pass.lengths[n] >= 1 && pass.lengths[n] <= shape.length) {
      lengths[n] = pass.lengths[n];
      continue;
    }
    throw InvalidArgument(
        fmt::format("attention: sample {} of {} has {} tokens, expected 1 to {}", n, shape.batch,
                    known ? std::to_string(pass.lengths[n]) : "no number of", shape.length));
  }
  return lengths;
}

}  // namespace

template <class T>
TensorOf<T> AttentionOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  const HeadShape shape(x.shape(), heads_);
  const T scale = 1 / std::sqrt(static_cast<T>(shape.d));
  const TensorOf<std::int32_t> lengths = from_host(lengths_of(saved.pass(), shape));
  TensorOf<T> weights({shape.batch, heads_, shape.length, shape.length});
  TensorOf<T> y({shape.batch, shape.length, heads_ * shape.d});
  for (std::int64_t head = 0; head < heads_; ++head) {
    const auto q = shape.part(x.data(), head, 0);
    const auto k = shape.part(x.data(), head, 1);
    const auto v = shape.part(x.data(), head, 2);
    const auto w = shape.weights(weights.data(), head);
    multiply(shape.batch, q, k.transposed(), w);
    softmax_rows(shape.batch, w, lengths.data(), scale);
    multiply(shape.batch, w, v, shape.out(y.data(), head));
  }
  saved.push(std::move(x));
  saved.push(std::move(weights));
  return y;
}

template <class T>
TensorOf<T> AttentionOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const TensorOf<T> weights = saved.pop();
  TensorOf<T> x = saved.pop();
  const HeadShape shape(x.shape(), heads_);
  check_same_size("attention", dy.size(), x.size() / 3);
  const T scale = 1 / std::sqrt(static_cast<T>(shape.d));
  TensorOf<T> dx = empty_like(x);
  TensorOf<T> dweights({shape.batch, shape.length, shape.length});
  const std::int64_t step = shape.length * shape.length;
  const MatricesOf<T> dw{{dweights.data(), shape.length, shape.length}, step};
  for (std::int64_t head = 0; head < heads_; ++head) {
    const auto w = shape.weights(weights.data(), head);
    const auto dout = shape.out(dy.data(), head);
    const auto q = shape.part(x.data(), head, 0), dq = shape.part(dx.data(), head, 0);
    const auto k = shape.part(x.data(), head, 1), dk = shape.part(dx.data(), head, 1);
    const auto v = shape.part(x.data(), head, 2), dv = shape.part(dx.data(), head, 2);
    multiply(shape.batch, w.transposed(), dout, dv);  // dv = wᵀ dy
    multiply(shape.batch, dout, v.transposed(), dw);  // dw = dy vᵀ
    softmax_rows_backward<T>(shape.batch, w, dw, scale);
    multiply(shape.batch, dw, k, dq);
    multiply(shape.batch, dw.transposed(), q, dk);
  }
  return dx;
}

template class AttentionOf<float>;
template class AttentionOf<double>;

}  // namespace rankbox
