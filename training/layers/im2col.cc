#include "training/layers/im2col.h"

#include <algorithm>

#include "compute/for_each.h"

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

/// Every element of the patches takes its pixel.
template <class T>
void gather_patches(const ConvShape& s, std::int64_t count, const T* images, T* patches) {
  for_each(count * s.patches(), s.patch(), [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t i) {
    const std::int64_t n = row / s.patches(), place = row % s.patches();
    const std::int64_t c = i % s.channels, k = i / s.channels;
    const std::int64_t y = place / s.out_width() - s.padding + k / s.kernel;
    const std::int64_t x = place % s.out_width() - s.padding + k % s.kernel;
    const bool inside = y >= 0 && y < s.height && x >= 0 && x < s.width;
    patches[row * s.patch() + i] =
        inside ? images[n * s.pixels() + (y * s.width + x) * s.channels + c] : T{0};
  });
}

/// Every pixel adds what the patches have of it, in the order of the patches.
template <class T>
void gather_pixels(const ConvShape& s, std::int64_t count, const T* patches, T* images) {
  for_each(count * s.height * s.width, s.channels,
           [=] RANKBOX_PORTABLE(std::int64_t pixel, std::int64_t c) {
             const std::int64_t n = pixel / (s.height * s.width);
             const std::int64_t y = pixel / s.width % s.height + s.padding;
             const std::int64_t x = pixel % s.width + s.padding;
             const T* const from = patches + n * s.patches() * s.patch() + c;
             T sum = images[pixel * s.channels + c];
             for (std::int64_t i = y < s.kernel ? 0 : y - s.kernel + 1;
                  i <= y && i < s.out_height(); ++i) {
               for (std::int64_t j = x < s.kernel ? 0 : x - s.kernel + 1;
                    j <= x && j < s.out_width(); ++j) {
                 const std::int64_t k = (y - i) * s.kernel + x - j;  // of the patch
                 sum += from[(i * s.out_width() + j) * s.patch() + k * s.channels];
               }
             }
             images[pixel * s.channels + c] = sum;
           });
}

}  // namespace

template <class T>
void im2col(const ConvShape& shape, std::int64_t count, const T* images, T* patches) {
  if constexpr (kOnGpu) return gather_patches(shape, count, images, patches);
  const std::int64_t length = shape.kernel * shape.channels;
  for (std::int64_t n = 0; n < count; ++n) {
    const T* const image = images + n * shape.pixels();
    T* const begin = patches + n * shape.patches() * shape.patch();
    for_each_line(shape,
                  [=](std::int64_t line, std::int64_t left, std::int64_t inside, std::int64_t at) {
                    T* const to = begin + line * length;
                    if (inside == length) {
                      std::copy_n(image + at, length, to);
                    } else {
                      std::fill_n(to, length, T{0});
                      if (inside > 0) std::copy_n(image + at, inside, to + left);
                    }
                  });
  }
}

template <class T>
void col2im(const ConvShape& shape, std::int64_t count, const T* patches, T* images) {
  if constexpr (kOnGpu) return gather_pixels(shape, count, patches, images);
  const std::int64_t length = shape.kernel * shape.channels;
  for (std::int64_t n = 0; n < count; ++n) {
    const T* const begin = patches + n * shape.patches() * shape.patch();
    T* const image = images + n * shape.pixels();
    for_each_line(shape,
                  [=](std::int64_t line, std::int64_t left, std::int64_t inside, std::int64_t at) {
                    const T* const from = begin + line * length + left;
                    T* const to = image + at;
                    for (std::int64_t i = 0; i < inside; ++i) to[i] += from[i];
                  });
  }
}

template void im2col(const ConvShape&, std::int64_t, const float*, float*);
template void im2col(const ConvShape&, std::int64_t, const double*, double*);
template void col2im(const ConvShape&, std::int64_t, const float*, float*);
template void col2im(const ConvShape&, std::int64_t, const double*, double*);

}  // namespace rankbox
