#include "training/layers/relu.h"

#include <array>

#include "compute/for_each_row.h"
#include "training/rows.h"

namespace rankbox {
namespace {

constexpr std::int64_t kBits = 32;  // per integer

std::int64_t words_for(std::int64_t elements) { return (elements + kBits - 1) / kBits; }

constexpr std::array<std::uint32_t, kBits> bit_of_each_place() {
  std::array<std::uint32_t, kBits> bits{};
  for (std::size_t i = 0; i < kBits; ++i) bits[i] = 1U << i;
  return bits;
}
// A table lookup instead of a shift, so that the loops below are vectorized on any core.
[[maybe_unused]] constexpr std::array<std::uint32_t, kBits> kBit = bit_of_each_place();

/// Bit i of a word.
RANKBOX_PORTABLE inline std::uint32_t bit(std::int64_t i) {
#if defined(__CUDA_ARCH__)
  return 1U << i;
#else
  return kBit[static_cast<std::size_t>(i)];
#endif
}

/// Negative elements become 0; the bits of the others are set in the result.
template <class T>
RANKBOX_PORTABLE inline std::uint32_t clip(Lanes lanes, T* x, std::int64_t count) {
  return lanes.sum<std::uint32_t>(count, [=](std::int64_t i) {
    const T value = x[i];
    const std::uint32_t wins = value > 0 ? ~0U : 0U;  // all bits: no branch
    x[i] = value > 0 ? value : T{0};
    return wins & bit(i);
  });
}

template <class T>
RANKBOX_PORTABLE inline void keep(Lanes lanes, T* dy, std::uint32_t positive, std::int64_t count) {
  lanes.each(count, [=](std::int64_t i) { dy[i] = (positive & bit(i)) != 0 ? dy[i] : T{0}; });
}

}  // namespace

template <class T>
TensorOf<T> ReluOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  TensorOf<std::int32_t> positive(words_for(x.size()));
  const std::int64_t size = x.size();
  T* const xs = x.data();
  std::int32_t* const words = positive.data();
  for_each_row(positive.size(), [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
    const std::int64_t begin = row * kBits, left = size - begin;
    const std::uint32_t word = left < kBits ? clip(lanes, xs + begin, left)
                                            : clip(lanes, xs + begin, kBits);  // vectorized
    lanes.each(1, [=](std::int64_t) { words[row] = static_cast<std::int32_t>(word); });
  });
  saved.push(std::move(positive));
  return x;
}

template <class T>
TensorOf<T> ReluOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const TensorOf<std::int32_t> positive = saved.pop_integers();
  check_same_size("relu", words_for(dy.size()), positive.size());
  const std::int64_t size = dy.size();
  T* const dys = dy.data();
  const std::int32_t* const words = positive.data();
  for_each_row(positive.size(), [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
    const std::int64_t begin = row * kBits, left = size - begin;
    const auto word = static_cast<std::uint32_t>(words[row]);
    if (left < kBits) {
      keep(lanes, dys + begin, word, left);
    } else {
      keep(lanes, dys + begin, word, kBits);
    }
  });
  return dy;
}

template class ReluOf<float>;
template class ReluOf<double>;

}  // namespace rankbox
