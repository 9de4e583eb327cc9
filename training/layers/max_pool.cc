#include "training/layers/max_pool.h"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/rows.h"

namespace rankbox {
namespace {

/// The pixels of windows: an output pixel is the largest of window² input pixels.
struct PoolShape {
  std::int64_t batch, height, width, channels, window;

  PoolShape(const Shape& x, std::int64_t window_size)
      : batch(0), height(0), width(0), channels(0), window(window_size) {
    const std::vector<std::int64_t>& extents = x.extents();
    if (extents.size() != 4 || extents[1] < window || extents[2] < window) {
      throw InvalidArgument(fmt::format(
          "max_pool: got an input of shape {}, expected [batch, height, width, channels], at least "
          "{} high and wide",
          to_string(x), window));
    }
    batch = extents[0], height = extents[1], width = extents[2], channels = extents[3];
  }
  std::int64_t out_height() const { return height / window; }
  std::int64_t out_width() const { return width / window; }

  /// Calls fn(output element, the first of its window in the input) for all of them, several
  /// channels at a time. fn also gets their number, as a constant, so that their values stay in
  /// registers.
  template <class Fn>
  void for_each_window(Fn fn) const {
    constexpr std::integral_constant<int, 16> kMany;
    constexpr std::integral_constant<int, 1> kOne;
    std::int64_t out = 0;
    for (std::int64_t n = 0; n < batch; ++n) {
      for (std::int64_t i = 0; i < out_height(); ++i) {
        for (std::int64_t j = 0; j < out_width(); ++j, out += channels) {
          const std::int64_t in = ((n * height + i * window) * width + j * window) * channels;
          std::int64_t c = 0;
          for (; c + kMany <= channels; c += kMany) fn(out + c, in + c, kMany);
          for (; c < channels; ++c) fn(out + c, in + c, kOne);
        }
      }
    }
  }

  /// The offset of every pixel of a window from the first.
  std::vector<std::int64_t> offsets() const {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < window; ++i) {
      for (std::int64_t j = 0; j < window; ++j) all.push_back((i * width + j) * channels);
    }
    return all;
  }
};

/// Where candidate k is larger than the best so far, it becomes the best.
template <class T, int lanes>
inline void take_larger(const T* candidate, std::int32_t k, T (&best)[lanes],
                        std::int32_t (&which)[lanes]) {
  for (int c = 0; c < lanes; ++c) {
    const T value = candidate[c], rival = best[c];
    const std::int32_t wins = value > rival ? -1 : 0;  // all bits: no branch, four at a time
    which[c] = (k & wins) | (which[c] & ~wins);
    best[c] = value > rival ? value : rival;
  }
}

}  // namespace

template <class T>
TensorOf<T> MaxPoolOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  const PoolShape shape(x.shape(), window_);
  TensorOf<T> y({shape.batch, shape.out_height(), shape.out_width(), shape.channels});
  TensorOf<std::int32_t> winner(y.size() + 2);  // and the input's height and width
  const std::vector<std::int64_t> offsets = shape.offsets();
  shape.for_each_window([&](std::int64_t out, std::int64_t in, auto lanes) {
    T best[lanes];
    std::int32_t which[lanes] = {};
    std::copy_n(x.data() + in, lanes, best);
    for (std::size_t k = 1; k < offsets.size(); ++k)
      take_larger(x.data() + in + offsets[k], static_cast<std::int32_t>(k), best, which);
    std::copy_n(best, lanes, y.data() + out);
    std::copy_n(which, lanes, winner.data() + out);
  });
  winner.data()[y.size()] = static_cast<std::int32_t>(shape.height);
  winner.data()[y.size() + 1] = static_cast<std::int32_t>(shape.width);
  saved.push(std::move(winner));
  return y;
}

template <class T>
TensorOf<T> MaxPoolOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const TensorOf<std::int32_t> winner = saved.pop_integers();
  check_same_size("max_pool", dy.size(), winner.size() - 2);
  const std::int64_t height = winner.data()[dy.size()];
  const std::int64_t width = winner.data()[dy.size() + 1];
  const std::vector<std::int64_t>& extents = dy.shape().extents();
  const Shape input{extents[0], height, width, extents.back()};
  // Windows cover the input, except for leftover lines.
  const bool all_covered = height % window_ == 0 && width % window_ == 0;
  TensorOf<T> dx = all_covered ? TensorOf<T>(input) : zeros<T>(input);
  const PoolShape shape(input, window_);
  const std::vector<std::int64_t> offsets = shape.offsets();
  shape.for_each_window([&](std::int64_t out, std::int64_t in, auto lanes) {
    T from[lanes];
    std::int32_t which[lanes];
    std::copy_n(dy.data() + out, lanes, from);
    std::copy_n(winner.data() + out, lanes, which);
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      T* const to = dx.data() + in + offsets[k];
      for (int c = 0; c < lanes; ++c)
        to[c] = which[c] == static_cast<std::int32_t>(k) ? from[c] : T{0};
    }
  });
  return dx;
}

template class MaxPoolOf<float>;
template class MaxPoolOf<double>;

}  // namespace rankbox
