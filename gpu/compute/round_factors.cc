#include "gpu/compute/round_factors.h"

#include "compute/for_each.h"

namespace rankbox::gpu {

template <class T>
MatricesOf<const T> round_factors(std::int64_t count, const MatricesOf<const float>& from,
                                  TensorOf<T>& memory) {
  constexpr std::int64_t kAligned = 16 / sizeof(T);
  const MatrixOf<const float>& m = from.first;
  const std::int64_t lines = m.is_transposed ? m.columns : m.rows;
  const std::int64_t length = m.is_transposed ? m.rows : m.columns;
  const std::int64_t stride = (length + kAligned - 1) / kAligned * kAligned;
  memory = TensorOf<T>(count * lines * stride);
  const float* const x = m.data;
  const std::int64_t step = from.step, line_step = m.stride;
  T* const to = memory.data();
  rankbox::for_each(count * lines, length, [=] RANKBOX_PORTABLE(std::int64_t line, std::int64_t i) {
    to[line * stride + i] = T(x[line / lines * step + line % lines * line_step + i]);
  });
  return {{to, m.rows, m.columns, stride, m.is_transposed}, lines * stride};
}

template MatricesOf<const Float16> round_factors(std::int64_t, const MatricesOf<const float>&,
                                                 TensorOf<Float16>&);
template MatricesOf<const BFloat16> round_factors(std::int64_t, const MatricesOf<const float>&,
                                                  TensorOf<BFloat16>&);

}  // namespace rankbox::gpu
