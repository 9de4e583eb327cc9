#include "training/layers/embedding.h"

#include <cmath>

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/initial.h"
#include "training/rows.h"

namespace rankbox {
namespace {

const double kBound = 0.02 * std::sqrt(3.0);  // uniform in ±b has variance b²/3

}  // namespace

template <class T>
EmbeddingOf<T>::EmbeddingOf(const EmbeddingOptions& options, Random random)
    : table{"table",
            random_tensor<T>({options.vocabulary, options.width}, kBound, random.stream("table"))},
      positions{"positions", random_tensor<T>({options.longest, options.width}, kBound,
                                              random.stream("positions"))},
      options_(options) {}

template <class T>
std::int64_t EmbeddingOf<T>::token_at(const TensorOf<T>& x, std::int64_t i) const {
  const T token = x.data()[i];
  if (token >= 0 && token < static_cast<T>(options_.vocabulary) && token == std::floor(token))
    return static_cast<std::int64_t>(token);
  throw InvalidArgument(fmt::format("embedding: token {} at element {}, expected 0 to {}", token, i,
                                    options_.vocabulary - 1));
}

template <class T>
TensorOf<T> EmbeddingOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  const std::vector<std::int64_t>& extents = x.shape().extents();
  if (extents.size() != 2 || extents[1] > options_.longest) {
    throw InvalidArgument(fmt::format(
        "embedding: got an input of shape {}, expected [batch, length], length at most {}",
        to_string(x.shape()), options_.longest));
  }
  const std::int64_t width = options_.width;
  TensorOf<T> y({extents[0], extents[1], width});
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const T* const word = table.value.data() + token_at(x, i) * width;
    const T* const position = positions.value.data() + i % extents[1] * width;
    for (std::int64_t k = 0; k < width; ++k) y.data()[i * width + k] = word[k] + position[k];
  }
  saved.push(std::move(x));
  return y;
}

template <class T>
TensorOf<T> EmbeddingOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const TensorOf<T> x = saved.pop();
  const std::int64_t width = options_.width;
  check_same_size("embedding", dy.size(), x.size() * width);
  T* const dtable = gradient_of(table).data();
  T* const dpositions = gradient_of(positions).data();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    T* const word = dtable + token_at(x, i) * width;
    T* const position = dpositions + i % x.shape().extents()[1] * width;
    for (std::int64_t k = 0; k < width; ++k) {
      word[k] += dy.data()[i * width + k];
      position[k] += dy.data()[i * width + k];
    }
  }
  return {};
}

template class EmbeddingOf<float>;
template class EmbeddingOf<double>;

}  // namespace rankbox
