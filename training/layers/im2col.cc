#include "training/layers/im2col.h"

#include <algorithm>

namespace rankbox {
namespace {

/// Calls fn(line of a patch, its elements left of the image, its elements inside, where these begin
/// in the image) for every line of every patch, in order.
template <class Fn>
void for_each_line(const ConvShape& s, Fn fn) {
  std::int64_t line = 0;
  for (std::int64_t y = 0; y < s.out_height(); ++y) {
    for (std::int64_t x = 0; x < s.out_width(); ++x) {
      const std::int64_t from = std::max<std::int64_t>(x - s.padding, 0);
      const std::int64_t to = std::min(x - s.padding + s.kernel, s.width);
      const std::int64_t left = from - (x - s.padding);
      const std::int64_t inside = std::max<std::int64_t>(to - from, 0);
      for (std::int64_t k = 0; k < s.kernel; ++k, ++line) {
        const std::int64_t row = y - s.padding + k;
        const bool outside = row < 0 || row >= s.height;
        fn(line, left * s.channels, outside ? 0 : inside * s.channels,
           (row * s.width + from) * s.channels);
      }
    }
  }
}

}  // namespace

template <class T>
void im2col(const ConvShape& shape, const T* image, T* patches) {
  const std::int64_t length = shape.kernel * shape.channels;
  for_each_line(shape,
                [=](std::int64_t line, std::int64_t left, std::int64_t inside, std::int64_t at) {
                  T* const to = patches + line * length;
                  if (inside == length) {
                    std::copy_n(image + at, length, to);
                  } else {
                    std::fill_n(to, length, T{0});
                    if (inside > 0) std::copy_n(image + at, inside, to + left);
                  }
                });
}

template <class T>
void col2im(const ConvShape& shape, const T* patches, T* image) {
  const std::int64_t length = shape.kernel * shape.channels;
  for_each_line(shape,
                [=](std::int64_t line, std::int64_t left, std::int64_t inside, std::int64_t at) {
                  const T* const from = patches + line * length + left;
                  T* const to = image + at;
                  for (std::int64_t i = 0; i < inside; ++i) to[i] += from[i];
                });
}

template void im2col(const ConvShape&, const float*, float*);
template void im2col(const ConvShape&, const double*, double*);
template void col2im(const ConvShape&, const float*, float*);
template void col2im(const ConvShape&, const double*, double*);

}  // namespace rankbox
