#include "training/layers/conv.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/initial.h"
#include "training/layers/bias.h"
#include "training/layers/direct_conv.h"
#include "training/rows.h"

namespace rankbox {
namespace {

double bound_of(const ConvOptions& options) {
  const std::int64_t inputs = options.kernel * options.kernel * options.channels;
  return 1 / std::sqrt(static_cast<double>(inputs));
}

/// On a GPU: products of the patches of a few images and the filters.
template <class T>
class ByPatches {
 public:
  ByPatches(const ConvShape& shape, std::int64_t filters, std::int64_t batch)
      : shape_(shape), filters_(filters), batch_(batch) {
    const std::int64_t bytes = shape.patches() * shape.patch() * std::int64_t{sizeof(T)};
    at_once_ = std::clamp<std::int64_t>(kBytes / bytes, 1, std::max<std::int64_t>(batch, 1));
    patches_ = TensorOf<T>(at_once_ * shape.patches() * shape.patch());
  }

  /// fn(the first image, images, their patches, their pixels in y: a row of filters for each).
  template <class Fn>
  void for_each_piece(const TensorOf<T>& x, TensorOf<T>& y, Fn fn) {
    for (std::int64_t first = 0; first < batch_; first += at_once_) {
      const std::int64_t count = std::min(at_once_, batch_ - first);
      const std::int64_t rows = count * shape_.patches();
      im2col(shape_, count, x.data() + first * shape_.pixels(), patches_.data());
      fn(first, count, MatrixOf<T>(patches_.data(), rows, shape_.patch()),
         MatrixOf<T>(y.data() + first * shape_.patches() * filters_, rows, filters_));
    }
  }

 private:
  static constexpr std::int64_t kBytes = 256 << 20;  // more images at once: fewer launches

  ConvShape shape_;
  std::int64_t filters_, batch_, at_once_;
  TensorOf<T> patches_;
};

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
  TensorOf<T> y({batch, shape.out_height(), shape.out_width(), options_.filters});
  if constexpr (kOnGpu) {
    const MatrixOf<T> filters = as_matrix(weight.value, shape.patch());
    ByPatches<T>(shape, options_.filters, batch)
        .for_each_piece(x, y, [&](auto, auto, MatrixOf<T> patches, MatrixOf<T> pixels) {
          fill_rows(pixels, bias.value.data());
          multiply(patches, filters.transposed(), pixels, Into::kAdd);
        });
  } else {
    convolve(shape, batch, x.data(), filters_last(weight.value, bias.value), y.data());
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
  TensorOf<T>& dw = gradient_of(weight);
  TensorOf<T>& db = gradient_of(bias);
  TensorOf<T> dx;
  if constexpr (kOnGpu) {
    const MatrixOf<T> filters = as_matrix(weight.value, shape.patch());
    if (this->wants_dx()) dx = zeros<T>(x.shape());
    ByPatches<T>(shape, options_.filters, batch)
        .for_each_piece(
            x, dy,
            [&](std::int64_t first, std::int64_t count, MatrixOf<T> patches, MatrixOf<T> pixels) {
              add_column_sums<T>(pixels, db.data());
              multiply(pixels.transposed(), patches, as_matrix(dw, shape.patch()), Into::kAdd);
              if (!this->wants_dx()) return;
              multiply(pixels, filters, patches);  // now the derivatives by the patches
              col2im<T>(shape, count, patches.data, dx.data() + first * shape.pixels());
            });
  } else {
    FiltersLast<T> gradients(shape.patch(), options_.filters);
    add_weight_gradients(shape, batch, x.data(), dy.data(), gradients);
    add_filters_first(gradients, dw, db);
    if (this->wants_dx()) {
      dx = empty_like(x);
      convolve(turned(shape, options_.filters), batch, dy.data(),
               turned(shape, weight.value, options_.filters), dx.data());
    }
  }
  return dx;
}

template class ConvOf<float>;
template class ConvOf<double>;

}  // namespace rankbox
