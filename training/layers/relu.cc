#include "training/layers/relu.h"

#include <array>
#include <bit>

#include "training/rows.h"

namespace rankbox {
namespace {

constexpr std::int64_t kBits = 32;  // per integer

std::int64_t words_for(std::int64_t elements) { return (elements + kBits - 1) / kBits; }

constexpr std::array<std::int32_t, kBits> bit_of_each_place() {
  std::array<std::int32_t, kBits> bits{};
  for (std::size_t i = 0; i < kBits; ++i) bits[i] = std::bit_cast<std::int32_t>(1U << i);
  return bits;
}
// A table lookup instead of a shift, so that the loops below are vectorized on any core.
constexpr std::array<std::int32_t, kBits> kBit = bit_of_each_place();

/// Negative elements become 0; the bits of the others are set in the result.
template <class T>
inline std::int32_t clip(T* x, std::int64_t count) {
  std::int32_t positive = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t bit = kBit[static_cast<std::size_t>(i)];
    const T value = x[i];
    positive |= value > 0 ? bit : 0;
    x[i] = value > 0 ? value : T{0};
  }
  return positive;
}

template <class T>
inline void keep(T* dy, std::int32_t positive, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    dy[i] = (positive & kBit[static_cast<std::size_t>(i)]) != 0 ? dy[i] : T{0};
}

}  // namespace

template <class T>
TensorOf<T> ReluOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  TensorOf<std::int32_t> positive(words_for(x.size()));
  std::int64_t i = 0;
  for (; i + kBits <= x.size(); i += kBits)  // a fixed count: vectorized
    positive.data()[i / kBits] = clip(x.data() + i, kBits);
  if (i < x.size()) positive.data()[i / kBits] = clip(x.data() + i, x.size() - i);
  saved.push(std::move(positive));
  return x;
}

template <class T>
TensorOf<T> ReluOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const TensorOf<std::int32_t> positive = saved.pop_integers();
  check_same_size("relu", words_for(dy.size()), positive.size());
  std::int64_t i = 0;
  for (; i + kBits <= dy.size(); i += kBits) keep(dy.data() + i, positive.data()[i / kBits], kBits);
  if (i < dy.size()) keep(dy.data() + i, positive.data()[i / kBits], dy.size() - i);
  return dy;
}

template class ReluOf<float>;
template class ReluOf<double>;

}  // namespace rankbox
