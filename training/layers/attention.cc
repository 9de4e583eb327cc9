#include "training/layers/attention.h"

#include <cmath>

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/matrix.h"
#include "training/rows.h"

namespace rankbox {
namespace {

/// One sample's piece of one head.
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
  /// Of x: part 0 is q, 1 is k, 2 is v.
  template <class T>
  MatrixOf<T> part(T* x, std::int64_t n, std::int64_t head, int part) const {
    const std::int64_t width = heads * 3 * d;
    return {x + n * length * width + (head * 3 + part) * d, length, d, width};
  }
  template <class T>
  MatrixOf<T> out(T* y, std::int64_t n, std::int64_t head) const {
    return {y + (n * length * heads + head) * d, length, d, heads * d};
  }
  template <class T>
  MatrixOf<T> weights(T* all, std::int64_t n, std::int64_t head) const {
    return {all + (n * heads + head) * length * length, length, length};
  }
};

/// Every row becomes e^(s x), normalized to 1 over its first `count` elements; 0 after them.
template <class T>
void softmax_rows(MatrixOf<T> rows, std::int64_t count, T scale) {
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    T* const x = rows.data + i * rows.stride;
    T largest = x[0];
    for (std::int64_t j = 1; j < count; ++j) largest = std::max(largest, x[j]);
    T sum = 0;
    for (std::int64_t j = 0; j < count; ++j) sum += x[j] = std::exp(scale * (x[j] - largest));
    for (std::int64_t j = 0; j < count; ++j) x[j] /= sum;
    for (std::int64_t j = count; j < rows.columns; ++j) x[j] = 0;
  }
}

/// dw, the derivatives by the weights w, become those by the input of softmax_rows.
template <class T>
void softmax_rows_backward(MatrixOf<const T> w, MatrixOf<T> dw, T scale) {
  for (std::int64_t i = 0; i < w.rows; ++i) {
    const T* const weight = w.data + i * w.stride;
    T* const d = dw.data + i * dw.stride;
    T sum = 0;
    for (std::int64_t j = 0; j < w.columns; ++j) sum += weight[j] * d[j];
    for (std::int64_t j = 0; j < w.columns; ++j) d[j] = scale * weight[j] * (d[j] - sum);
  }
}

std::int64_t length_of(const Pass& pass, std::int64_t n, const HeadShape& shape) {
  if (pass.lengths.empty()) return shape.length;
  const auto i = static_cast<std::size_t>(n);
  if (i < pass.lengths.size() && pass.lengths[i] >= 1 && pass.lengths[i] <= shape.length)
    return pass.lengths[i];
  throw InvalidArgument(fmt::format(
      "attention: sample {} of {} has {} tokens, expected 1 to {}", n, shape.batch,
      i < pass.lengths.size() ? std::to_string(pass.lengths[i]) : "no number of", shape.length));
}

}  // namespace

template <class T>
TensorOf<T> AttentionOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  const HeadShape shape(x.shape(), heads_);
  const T scale = 1 / std::sqrt(static_cast<T>(shape.d));
  TensorOf<T> weights({shape.batch, heads_, shape.length, shape.length});
  TensorOf<T> y({shape.batch, shape.length, heads_ * shape.d});
  for (std::int64_t n = 0; n < shape.batch; ++n) {
    const std::int64_t tokens = length_of(saved.pass(), n, shape);
    for (std::int64_t head = 0; head < heads_; ++head) {
      const auto q = shape.part(x.data(), n, head, 0);
      const auto k = shape.part(x.data(), n, head, 1);
      const auto v = shape.part(x.data(), n, head, 2);
      const auto w = shape.weights(weights.data(), n, head);
      multiply(q, k.transposed(), w);
      softmax_rows(w, tokens, scale);
      multiply(w, v, shape.out(y.data(), n, head));
    }
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
  TensorOf<T> dweights({shape.length, shape.length});
  for (std::int64_t n = 0; n < shape.batch; ++n) {
    for (std::int64_t head = 0; head < heads_; ++head) {
      const auto w = shape.weights(weights.data(), n, head);
      const auto dw = as_matrix(dweights, shape.length);
      const auto dout = shape.out(dy.data(), n, head);
      multiply(w.transposed(), dout, shape.part(dx.data(), n, head, 2));  // dv = wᵀ dy
      multiply(dout, shape.part(x.data(), n, head, 2).transposed(), dw);  // dw = dy vᵀ
      softmax_rows_backward<T>(w, dw, scale);
      multiply(dw, shape.part(x.data(), n, head, 1), shape.part(dx.data(), n, head, 0));
      multiply(dw.transposed(), shape.part(x.data(), n, head, 0),
               shape.part(dx.data(), n, head, 1));
    }
  }
  return dx;
}

template class AttentionOf<float>;
template class AttentionOf<double>;

}  // namespace rankbox
