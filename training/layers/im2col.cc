#include "training/layers/im2col.h"

#include "compute/for_each.h"

namespace rankbox {

/// Every element of the patches takes its pixel.
template <class T>
void im2col(const ConvShape& s, std::int64_t count, const T* images, T* patches) {
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
void col2im(const ConvShape& s, std::int64_t count, const T* patches, T* images) {
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

template void im2col(const ConvShape&, std::int64_t, const float*, float*);
template void im2col(const ConvShape&, std::int64_t, const double*, double*);
template void col2im(const ConvShape&, std::int64_t, const float*, float*);
template void col2im(const ConvShape&, std::int64_t, const double*, double*);

}  // namespace rankbox
