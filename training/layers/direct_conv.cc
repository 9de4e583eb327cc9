#include "training/layers/direct_conv.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compute/vectors.h"

namespace rankbox {
namespace {

/// f(0), f(1), … f(n - 1), each a constant: sums in arrays become registers.
template <int n, class F>
inline __attribute__((always_inline)) void unrolled(F f) {
  [&]<int... i>(std::integer_sequence<int, i...>) { (f(std::integral_constant<int, i>()), ...); }
  (std::make_integer_sequence<int, n>());
}

/// A register, and how many sums of `registers` registers fit beside what is multiplied.
template <class T, int bytes, int registers>
struct Tile {
  using V __attribute__((vector_size(bytes))) = T;
  using InMemory __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias)) = T;
  static constexpr std::int64_t kLanes = bytes / sizeof(T);
  static constexpr int kPixels = (bytes == 64 ? 14 : 12) / registers;
  static constexpr int kElements = bytes == 64 ? 10 : 5;
};

/// Distances in elements. Windows lie in a bordered image.
struct Plan {
  std::int64_t height, width;  // of the output
  std::int64_t kernel, line;   // lines of a window, and elements of one
  std::int64_t pixel, row;     // from a pixel of the image to the next, and from a row to the next
  std::int64_t filters, padded_filters;
};

Plan plan_of(const ConvShape& s, std::int64_t filters, std::int64_t padded_filters) {
  const std::int64_t row = (s.width + 2 * s.padding) * s.channels;
  return {s.out_height(), s.out_width(), s.kernel, s.kernel * s.channels,
          s.channels,     row,           filters,  padded_filters};
}

/// An image with a border of zeros; negative padding leaves the image's own border out.
template <class T>
class Bordered {
 public:
  explicit Bordered(const ConvShape& shape)
      : s_(shape),
        values_(static_cast<std::size_t>((s_.height + 2 * s_.padding) *
                                         (s_.width + 2 * s_.padding) * s_.channels)) {}

  const T* of(const T* image) {
    const std::int64_t left_out = std::max<std::int64_t>(-s_.padding, 0);
    const std::int64_t border = std::max<std::int64_t>(s_.padding, 0);
    const std::int64_t row = (s_.width + 2 * s_.padding) * s_.channels;
    for (std::int64_t y = left_out; y < s_.height - left_out; ++y) {
      std::copy_n(image + (y * s_.width + left_out) * s_.channels,
                  (s_.width - 2 * left_out) * s_.channels,
                  values_.data() + (y + s_.padding) * row + border * s_.channels);
    }
    return values_.data();
  }

 private:
  ConvShape s_;
  std::vector<T> values_;
};

/// A few pixels of y, side by side; the first one's window begins at x.
template <class T, int bytes, int registers, int pixels>
inline __attribute__((always_inline)) void convolve_pixels(const Plan& p, const T* x, const T* w,
                                                           std::int64_t filters, T* y) {
  using Registers = Tile<T, bytes, registers>;
  using V = typename Registers::V;
  using InMemory = typename Registers::InMemory;
  const T* const bias = w + p.kernel * p.line * p.padded_filters;
  V sums[pixels][registers];
  unrolled<pixels>([&](auto i) {
    unrolled<registers>([&](auto r) {
      sums[i][r] = *reinterpret_cast<const InMemory*>(bias + r * Registers::kLanes);
    });
  });
  for (std::int64_t k = 0; k < p.kernel; ++k) {
    const T* from = x + k * p.row;
    for (std::int64_t e = 0; e < p.line; ++e, ++from, w += p.padded_filters) {
      V weights[registers];
      unrolled<registers>([&](auto r) {
        weights[r] = *reinterpret_cast<const InMemory*>(w + r * Registers::kLanes);
      });
      unrolled<pixels>([&](auto i) {
        unrolled<registers>([&](auto r) { sums[i][r] += from[i * p.pixel] * weights[r]; });
      });
    }
  }
  unrolled<pixels>([&](auto i) {
    unrolled<registers>([&](auto r) {
      T* const to = y + i * p.filters + r * Registers::kLanes;
      if ((r + 1) * Registers::kLanes <= filters) {
        *reinterpret_cast<InMemory*>(to) = sums[i][r];
      } else {
        std::copy_n(reinterpret_cast<const T*>(&sums[i][r]), filters - r * Registers::kLanes, to);
      }
    });
  });
}

/// One image: up to `registers` registers of filters, of which `filters` exist.
template <class T, int bytes, int registers>
inline __attribute__((always_inline)) void convolve_image(const Plan& p, const T* x, const T* w,
                                                          std::int64_t filters, T* y) {
  constexpr int kPixels = Tile<T, bytes, registers>::kPixels;
  for (std::int64_t i = 0; i < p.height; ++i) {
    const T* const from = x + i * p.row;
    T* const to = y + i * p.width * p.filters;
    for (std::int64_t j = 0; j < p.width && p.width < kPixels; ++j) {
      convolve_pixels<T, bytes, registers, 1>(p, from + j * p.pixel, w, filters,
                                              to + j * p.filters);
    }
    for (std::int64_t begin = 0; begin < p.width && p.width >= kPixels; begin += kPixels) {
      const std::int64_t j = std::min(begin, p.width - kPixels);  // the last ones may be made twice
      convolve_pixels<T, bytes, registers, kPixels>(p, from + j * p.pixel, w, filters,
                                                    to + j * p.filters);
    }
  }
}

/// The gradients of a few weights side by side in a line of the window, whose first element under
/// the first window is at x. dy has rows of padded_filters.
template <class T, int bytes, int registers, int elements>
inline __attribute__((always_inline)) void add_gradients(const Plan& p, const T* x, const T* dy,
                                                         T* gradients) {
  using Registers = Tile<T, bytes, registers>;
  using V = typename Registers::V;
  using InMemory = typename Registers::InMemory;
  V sums[elements][registers] = {};
  for (std::int64_t i = 0; i < p.height; ++i) {
    const T* from = x + i * p.row;
    for (std::int64_t j = 0; j < p.width; ++j, from += p.pixel, dy += p.padded_filters) {
      V by_y[registers];
      unrolled<registers>([&](auto r) {
        by_y[r] = *reinterpret_cast<const InMemory*>(dy + r * Registers::kLanes);
      });
      unrolled<elements>(
          [&](auto e) { unrolled<registers>([&](auto r) { sums[e][r] += from[e] * by_y[r]; }); });
    }
  }
  unrolled<elements>([&](auto e) {
    unrolled<registers>([&](auto r) {
      auto& to =
          *reinterpret_cast<InMemory*>(gradients + e * p.padded_filters + r * Registers::kLanes);
      to = to + sums[e][r];
    });
  });
}

template <class T, int bytes, int registers>
inline __attribute__((always_inline)) void add_image_gradients(const Plan& p, const T* x,
                                                               const T* dy, T* gradients) {
  constexpr int kElements = Tile<T, bytes, registers>::kElements;
  for (std::int64_t k = 0; k < p.kernel; ++k) {
    const T* const from = x + k * p.row;
    T* const to = gradients + k * p.line * p.padded_filters;
    std::int64_t e = 0;
    for (; e + kElements <= p.line; e += kElements) {
      add_gradients<T, bytes, registers, kElements>(p, from + e, dy, to + e * p.padded_filters);
    }
    for (; e + 5 <= p.line; e += 5)
      add_gradients<T, bytes, registers, 5>(p, from + e, dy, to + e * p.padded_filters);
    for (; e < p.line; ++e)
      add_gradients<T, bytes, registers, 1>(p, from + e, dy, to + e * p.padded_filters);
  }
  // The bias is the weight of a pixel that is always 1.
  Plan everywhere = p;
  everywhere.pixel = everywhere.row = 0;
  const T one = 1;
  add_gradients<T, bytes, registers, 1>(everywhere, &one, dy,
                                        gradients + p.kernel * p.line * p.padded_filters);
}

/// fn(registers, the first of their filters) for all filters, two registers at a time.
template <class T, int bytes, class Fn>
inline __attribute__((always_inline)) void for_each_tile(std::int64_t filters, Fn fn) {
  constexpr std::int64_t kLanes = Tile<T, bytes, 1>::kLanes;
  std::int64_t first = 0;
  for (; first + kLanes < filters; first += 2 * kLanes) fn(std::integral_constant<int, 2>(), first);
  if (first < filters) fn(std::integral_constant<int, 1>(), first);
}

}  // namespace

template <class T>
FiltersLast<T>::FiltersLast(std::int64_t patch, std::int64_t filters)
    : patch_(patch), filters_(filters), row_(0) {
  constexpr std::int64_t kLanes = 64 / sizeof(T);
  row_ = (filters + kLanes - 1) / kLanes * kLanes;
  values_ = zeros<T>((patch + 1) * row_);
}

template <class T>
FiltersLast<T> filters_last(const TensorOf<T>& weight, const TensorOf<T>& bias) {
  const std::int64_t filters = bias.size(), patch = weight.size() / filters;
  FiltersLast<T> last(patch, filters);
  const T* from = weight.data();
  for (std::int64_t o = 0; o < filters; ++o) {
    for (std::int64_t e = 0; e < patch; ++e) last.at(e, o) = *from++;
    last.at(patch, o) = bias.data()[o];
  }
  return last;
}

template <class T>
FiltersLast<T> turned(const ConvShape& shape, const TensorOf<T>& weight, std::int64_t filters) {
  const std::int64_t window = shape.kernel * shape.kernel;
  FiltersLast<T> last(window * filters, shape.channels);
  const T* from = weight.data();
  for (std::int64_t o = 0; o < filters; ++o) {
    for (std::int64_t k = window; k-- > 0;) {
      for (std::int64_t c = 0; c < shape.channels; ++c) last.at(k * filters + o, c) = *from++;
    }
  }
  return last;
}

ConvShape turned(const ConvShape& shape, std::int64_t filters) {
  return {shape.out_height(), shape.out_width(), filters, shape.kernel,
          shape.kernel - 1 - shape.padding};
}

template <class T>
void convolve(const ConvShape& shape, std::int64_t count, const T* x, const FiltersLast<T>& w,
              T* y) {
  const Plan plan = plan_of(shape, w.filters(), w.row());
  Bordered<T> bordered(shape);
  for (std::int64_t n = 0; n < count; ++n) {
    const T* const image = bordered.of(x + n * shape.pixels());
    const T* const weights = w.data();
    T* const to = y + n * shape.patches() * plan.filters;
    on_vectors([=](auto bytes) {
      for_each_tile<T, bytes()>(plan.filters, [&](auto registers, std::int64_t first) {
        convolve_image<T, bytes(), registers()>(plan, image, weights + first, plan.filters - first,
                                                to + first);
      });
    });
  }
}

template <class T>
void add_weight_gradients(const ConvShape& shape, std::int64_t count, const T* x, const T* dy,
                          FiltersLast<T>& dw) {
  const Plan plan = plan_of(shape, dw.filters(), dw.row());
  Bordered<T> bordered(shape);
  FiltersLast<T> by_pixel(shape.patches() - 1,
                          dw.filters());  // dy, padded: whole registers are read
  for (std::int64_t n = 0; n < count; ++n) {
    const T* const image = bordered.of(x + n * shape.pixels());
    const T* by_y = dy + n * shape.patches() * plan.filters;
    if (plan.filters != plan.padded_filters) {
      for (std::int64_t i = 0; i < shape.patches(); ++i)
        std::copy_n(by_y + i * plan.filters, plan.filters, &by_pixel.at(i, 0));
      by_y = by_pixel.data();
    }
    T* const gradients = dw.data();
    on_vectors([=](auto bytes) {
      for_each_tile<T, bytes()>(plan.filters, [&](auto registers, std::int64_t first) {
        add_image_gradients<T, bytes(), registers()>(plan, image, by_y + first, gradients + first);
      });
    });
  }
}

template <class T>
void add_filters_first(FiltersLast<T>& gradients, TensorOf<T>& weight, TensorOf<T>& bias) {
  T* to = weight.data();
  for (std::int64_t o = 0; o < gradients.filters(); ++o) {
    for (std::int64_t e = 0; e < gradients.patch(); ++e) *to++ += gradients.at(e, o);
    bias.data()[o] += gradients.at(gradients.patch(), o);
  }
}

template class FiltersLast<float>;
template FiltersLast<float> filters_last(const TensorOf<float>&, const TensorOf<float>&);
template FiltersLast<float> turned(const ConvShape&, const TensorOf<float>&, std::int64_t);
template void convolve(const ConvShape&, std::int64_t, const float*, const FiltersLast<float>&,
                       float*);
template void add_weight_gradients(const ConvShape&, std::int64_t, const float*, const float*,
                                   FiltersLast<float>&);
template void add_filters_first(FiltersLast<float>&, TensorOf<float>&, TensorOf<float>&);
template class FiltersLast<double>;
template FiltersLast<double> filters_last(const TensorOf<double>&, const TensorOf<double>&);
template FiltersLast<double> turned(const ConvShape&, const TensorOf<double>&, std::int64_t);
template void convolve(const ConvShape&, std::int64_t, const double*, const FiltersLast<double>&,
                       double*);
template void add_weight_gradients(const ConvShape&, std::int64_t, const double*, const double*,
                                   FiltersLast<double>&);
template void add_filters_first(FiltersLast<double>&, TensorOf<double>&, TensorOf<double>&);

}  // namespace rankbox
