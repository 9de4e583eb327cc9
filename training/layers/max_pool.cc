#include "training/layers/max_pool.h"

#include <fmt/format.h>

#include "comm/errors.h"
#include "compute/for_each.h"
#include "training/rows.h"

namespace rankbox {
namespace {

/// Channels that one call takes: on the host several, whose values stay in vector registers.
constexpr int kTogether = kOnGpu ? 1 : 16;

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
  constexpr std::int64_t out_height() const { return height / window; }
  constexpr std::int64_t out_width() const { return width / window; }
  constexpr std::int64_t groups() const { return (channels + kTogether - 1) / kTogether; }
  /// Of pixel k of a window from its first one.
  constexpr std::int64_t offset(std::int64_t k) const {
    return (k / window * width + k % window) * channels;
  }
};

/// Calls pool.at<lanes>(output element, the first of its window in the input) for `lanes` channels
/// at a time.
template <class Pool>
struct InWindows {
  PoolShape shape;
  Pool pool;

  RANKBOX_PORTABLE void operator()(std::int64_t line, std::int64_t i) const {
    const PoolShape& s = shape;
    const std::int64_t n = line / s.out_height(), row = line % s.out_height() * s.window;
    const std::int64_t column = i / s.groups();
    const std::int64_t out = (line * s.out_width() + column) * s.channels;
    const std::int64_t in = ((n * s.height + row) * s.width + column * s.window) * s.channels;
    std::int64_t c = i % s.groups() * kTogether;
    if (c + kTogether <= s.channels) {
      pool.template at<kTogether>(s, out + c, in + c);
    } else {
      for (; c < s.channels; ++c) pool.template at<1>(s, out + c, in + c);
    }
  }
};

template <class Pool>
void for_each_window(const PoolShape& s, const Pool& pool) {
  for_each(s.batch * s.out_height(), s.out_width() * s.groups(), InWindows<Pool>{s, pool});
}

/// Where candidate k is larger than the best so far, it becomes the best.
template <class T, int lanes>
RANKBOX_PORTABLE inline void take_larger(const T* candidate, std::int32_t k, T (&best)[lanes],
                                         std::int32_t (&which)[lanes]) {
  for (int c = 0; c < lanes; ++c) {
    const T value = candidate[c], rival = best[c];
    const std::int32_t wins = value > rival ? -1 : 0;  // all bits: no branch, four at a time
    which[c] = (k & wins) | (which[c] & ~wins);
    best[c] = value > rival ? value : rival;
  }
}

template <class T>
struct FindLargest {
  const T* x;
  T* y;
  std::int32_t* winner;

  template <int lanes>
  RANKBOX_PORTABLE void at(const PoolShape& s, std::int64_t out, std::int64_t in) const {
    T best[lanes];
    std::int32_t which[lanes] = {};
    for (int c = 0; c < lanes; ++c) best[c] = x[in + c];
    for (std::int64_t k = 1; k < s.window * s.window; ++k)
      take_larger(x + in + s.offset(k), static_cast<std::int32_t>(k), best, which);
    for (int c = 0; c < lanes; ++c) y[out + c] = best[c];
    for (int c = 0; c < lanes; ++c) winner[out + c] = which[c];
  }
};

template <class T>
struct GiveToLargest {
  const T* dy;
  const std::int32_t* winner;
  T* dx;

  template <int lanes>
  RANKBOX_PORTABLE void at(const PoolShape& s, std::int64_t out, std::int64_t in) const {
    T from[lanes];
    std::int32_t which[lanes];
    for (int c = 0; c < lanes; ++c) from[c] = dy[out + c];
    for (int c = 0; c < lanes; ++c) which[c] = winner[out + c];
    for (std::int64_t k = 0; k < s.window * s.window; ++k) {
      T* const to = dx + in + s.offset(k);
      for (int c = 0; c < lanes; ++c)
        to[c] = which[c] == static_cast<std::int32_t>(k) ? from[c] : T{0};
    }
  }
};

}  // namespace

template <class T>
TensorOf<T> MaxPoolOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  const PoolShape shape(x.shape(), window_);
  TensorOf<T> y({shape.batch, shape.out_height(), shape.out_width(), shape.channels});
  TensorOf<std::int32_t> winner(y.size());
  for_each_window(shape, FindLargest<T>{x.data(), y.data(), winner.data()});
  saved.push(std::move(winner));
  saved.push(TensorOf<std::int32_t>({shape.height, shape.width, 0}));  // its shape
  return y;
}

template <class T>
TensorOf<T> MaxPoolOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const Shape pixels = saved.pop_integers().shape();
  const TensorOf<std::int32_t> winner = saved.pop_integers();
  check_same_size("max_pool", dy.size(), winner.size());
  const std::int64_t height = pixels.extents()[0], width = pixels.extents()[1];
  const std::vector<std::int64_t>& extents = dy.shape().extents();
  const Shape input{extents[0], height, width, extents.back()};
  // Windows cover the input, except for leftover lines.
  const bool all_covered = height % window_ == 0 && width % window_ == 0;
  TensorOf<T> dx = all_covered ? TensorOf<T>(input) : zeros<T>(input);
  const PoolShape shape(input, window_);
  for_each_window(shape, GiveToLargest<T>{dy.data(), winner.data(), dx.data()});
  return dx;
}

template class MaxPoolOf<float>;
template class MaxPoolOf<double>;

}  // namespace rankbox
