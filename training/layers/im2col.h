// Convolution as a matrix product, on GPUs: the patch under each output pixel becomes a row.
//
//   image [height, width, channels] → patches [out_height · out_width, kernel · kernel · channels]
//
// Pixels beyond the border count as 0. A thread per element. (The host needs no patches:
// direct_conv.h.)
#pragma once

#include <cstdint>

namespace rankbox {

struct ConvShape {
  std::int64_t height = 0;  // of the input
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t kernel = 0;   // its height and width
  std::int64_t padding = 0;  // lines of zeros around the image

  constexpr std::int64_t out_height() const { return height + 2 * padding - kernel + 1; }
  constexpr std::int64_t out_width() const { return width + 2 * padding - kernel + 1; }
  constexpr std::int64_t pixels() const { return height * width * channels; }
  constexpr std::int64_t patches() const { return out_height() * out_width(); }
  constexpr std::int64_t patch() const { return kernel * kernel * channels; }
};

/// patches = the patches of `count` images. Allocates no memory.
template <class T>
void im2col(const ConvShape& shape, std::int64_t count, const T* images, T* patches);

/// Adds every patch to its image, where it was taken from: the transpose of im2col.
template <class T>
void col2im(const ConvShape& shape, std::int64_t count, const T* patches, T* images);

}  // namespace rankbox
