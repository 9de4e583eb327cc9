#include "training/layers/conv.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/initial.h"
#include "training/layers/bias.h"
#include "training/rows.h"

namespace rankbox {
namespace {

double bound_of(const ConvOptions& options) {
  const std::int64_t inputs = options.kernel * options.kernel * options.channels;
  return 1 / std::sqrt(static_cast<double>(inputs));
}

/// A batch is processed in pieces: as many images as have patches that fit in the cache; on a GPU,
/// where pieces cost launches, in a part of its memory.
constexpr std::int64_t kPieceBytes = kOnGpu ? 256 << 20 : 512 << 10;

template <class T>
std::int64_t images_at_once(const ConvShape& shape, std::int64_t batch) {
  const std::int64_t bytes = shape.patches() * shape.patch() * std::int64_t{sizeof(T)};
  return std::clamp<std::int64_t>(kPieceBytes / bytes, 1, std::max<std::int64_t>(batch, 1));
}

/// The patches of images [first, first + count), as rows, in the memory of `patches`.
template <class T>
MatrixOf<T> patches_of(const ConvShape& shape, const TensorOf<T>& x, std::int64_t first,
                       std::int64_t count, TensorOf<T>& patches) {
  im2col(shape, count, x.data() + first * shape.pixels(), patches.data());
  return {patches.data(), count * shape.patches(), shape.patch()};
}

/// The pixels of images [first, first + count) of a layer's output, a row of filters for each.
template <class T>
MatrixOf<T> pixels_of(const ConvShape& shape, TensorOf<T>& y, std::int64_t filters,
                      std::int64_t first, std::int64_t count) {
  return {y.data() + first * shape.patches() * filters, count * shape.patches(), filters};
}

}  // namespace

template <class T>
ConvOf<T>::ConvOf(const ConvOptions& options, Random random)
    : weight{"weight",
             random_tensor<T>({options.filters, options.kernel, options.kernel, options.channels},
                              bound_of(options), random.stream("weight"))},
      bias{"bias", random_tensor<T>(options.filters, bound_of(options), random.stream("bias"))},
      options_(options) {}

template <class T>
ConvShape ConvOf<T>::shape_of(const Shape& x) const {
  const std::vector<std::int64_t>& extents = x.extents();
  if (extents.size() == 4 && extents[3] == options_.channels) {
    const ConvShape shape{extents[1], extents[2], extents[3], options_.kernel, options_.padding};
    if (shape.out_height() > 0 && shape.out_width() > 0) return shape;
  }
  const std::int64_t least = std::max<std::int64_t>(options_.kernel - 2 * options_.padding, 1);
  throw InvalidArgument(fmt::format(
      "conv: got an input of shape {}, expected [batch, height, width, {}], at least {} high and "
      "wide",
      to_string(x), options_.channels, least));
}

template <class T>
TensorOf<T> ConvOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  const ConvShape shape = shape_of(x.shape());
  const std::int64_t batch = x.shape().extents()[0];
  const std::int64_t at_once = images_at_once<T>(shape, batch);
  const MatrixOf<T> filters = as_matrix(weight.value, shape.patch());
  TensorOf<T> patches(at_once * shape.patches() * shape.patch());
  TensorOf<T> y({batch, shape.out_height(), shape.out_width(), options_.filters});

  for (std::int64_t first = 0; first < batch; first += at_once) {
    const std::int64_t count = std::min(at_once, batch - first);
    const MatrixOf<T> pixels = pixels_of(shape, y, options_.filters, first, count);
    fill_rows(pixels, bias.value.data());
    multiply(patches_of(shape, x, first, count, patches), filters.transposed(), pixels, Into::kAdd);
  }
  saved.push(std::move(x));
  return y;
}

template <class T>
TensorOf<T> ConvOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const TensorOf<T> x = saved.pop();
  const ConvShape shape = shape_of(x.shape());
  const std::int64_t batch = x.shape().extents()[0];
  check_same_size("conv", dy.size(), batch * shape.patches() * options_.filters);
  const std::int64_t at_once = images_at_once<T>(shape, batch);
  const MatrixOf<T> filters = as_matrix(weight.value, shape.patch());
  const MatrixOf<T> filter_gradient = as_matrix(gradient_of(weight), shape.patch());
  TensorOf<T> patches(at_once * shape.patches() * shape.patch());
  TensorOf<T> dx;
  if (this->wants_dx()) dx = zeros<T>(x.shape());

  for (std::int64_t first = 0; first < batch; first += at_once) {
    const std::int64_t count = std::min(at_once, batch - first);
    const MatrixOf<T> dpixels = pixels_of(shape, dy, options_.filters, first, count);
    add_column_sums<T>(dpixels, gradient_of(bias).data());
    const MatrixOf<T> rows = patches_of(shape, x, first, count, patches);
    multiply(dpixels.transposed(), rows, filter_gradient, Into::kAdd);
    if (!this->wants_dx()) continue;
    multiply(dpixels, filters, rows);  // now the derivatives by the patches
    col2im<T>(shape, count, rows.data, dx.data() + first * shape.pixels());
  }
  return dx;
}

template class ConvOf<float>;
template class ConvOf<double>;

}  // namespace rankbox
