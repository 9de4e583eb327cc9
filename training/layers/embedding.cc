#include "training/layers/embedding.h"

#include <cmath>

#include <fmt/format.h>

#include "comm/errors.h"
#include "compute/add_rows.h"
#include "compute/first_of.h"
#include "compute/sum_columns.h"
#include "training/initial.h"
#include "training/rows.h"

namespace rankbox {
namespace {

const double kBound = 0.02 * std::sqrt(3.0);  // uniform in ±b has variance b²/3

template <class T>
void check_tokens(const TensorOf<T>& x, std::int64_t words) {
  const auto vocabulary = static_cast<T>(words);
  const T* const tokens = x.data();
  const std::int64_t wrong = first_of(x.size(), [=] RANKBOX_PORTABLE(std::int64_t i) {
    return !(tokens[i] >= 0 && tokens[i] < vocabulary && tokens[i] == std::floor(tokens[i]));
  });
  if (wrong == x.size()) return;
  T token = 0;
  detail::copy_to_host(&token, Slice(x).sub(wrong, wrong + 1));
  throw InvalidArgument(
      fmt::format("embedding: token {} at element {}, expected 0 to {}", token, wrong, words - 1));
}

}  // namespace

template <class T>
EmbeddingOf<T>::EmbeddingOf(const EmbeddingOptions& options, Random random)
    : table{"table",
            random_tensor<T>({options.vocabulary, options.width}, kBound, random.stream("table"))},
      positions{"positions", random_tensor<T>({options.longest, options.width}, kBound,
                                              random.stream("positions"))},
      options_(options) {}

template <class T>
TensorOf<T> EmbeddingOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  const std::vector<std::int64_t>& extents = x.shape().extents();
  if (extents.size() != 2 || extents[1] > options_.longest) {
    throw InvalidArgument(fmt::format(
        "embedding: got an input of shape {}, expected [batch, length], length at most {}",
        to_string(x.shape()), options_.longest));
  }
  check_tokens(x, options_.vocabulary);
  const std::int64_t length = extents[1], width = options_.width;
  TensorOf<T> y({extents[0], length, width});
  const T *const tokens = x.data(), *const words = table.value.data();
  const T* const places = positions.value.data();
  T* const to = y.data();
  for_each(x.size(), width, [=] RANKBOX_PORTABLE(std::int64_t i, std::int64_t k) {
    const auto token = static_cast<std::int64_t>(tokens[i]);
    to[i * width + k] = words[token * width + k] + places[i % length * width + k];
  });
  saved.push(std::move(x));
  return y;
}

template <class T>
TensorOf<T> EmbeddingOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const TensorOf<T> x = saved.pop();
  const std::int64_t width = options_.width;
  check_same_size("embedding", dy.size(), x.size() * width);
  const T *const tokens = x.data(), *const from = dy.data();
  add_rows(
      x.size(), width,
      [=] RANKBOX_PORTABLE(std::int64_t i) { return static_cast<std::int64_t>(tokens[i]); }, from,
      options_.vocabulary, gradient_of(table).data());
  const std::vector<std::int64_t>& extents = x.shape().extents();
  const std::int64_t elements = extents[1] * width;  // of a text
  sum_columns(
      extents[0], elements,
      [=] RANKBOX_PORTABLE(std::int64_t n, std::int64_t i) { return from[n * elements + i]; },
      gradient_of(positions).data());
  return {};
}

template class EmbeddingOf<float>;
template class EmbeddingOf<double>;

}  // namespace rankbox
