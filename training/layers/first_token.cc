#include "training/layers/first_token.h"

#include <fmt/format.h>

#include "comm/errors.h"
#include "compute/for_each.h"
#include "training/rows.h"

namespace rankbox {

template <class T>
TensorOf<T> FirstTokenOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  const std::vector<std::int64_t>& extents = x.shape().extents();
  if (extents.size() != 3 || extents[1] == 0) {
    throw InvalidArgument(
        fmt::format("first_token: got an input of shape {}, expected [batch, length, width]",
                    to_string(x.shape())));
  }
  const std::int64_t length = extents[1], width = extents[2];
  TensorOf<T> y({extents[0], width});
  const T* const from = x.data();
  T* const to = y.data();
  for_each(extents[0], width, [=] RANKBOX_PORTABLE(std::int64_t n, std::int64_t i) {
    to[n * width + i] = from[n * length * width + i];
  });
  saved.push(TensorOf<std::int32_t>({length, 0}));  // its shape
  return y;
}

template <class T>
TensorOf<T> FirstTokenOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const std::int64_t length = saved.pop_integers().shape().extents()[0];
  const std::int64_t batch = dy.shape().extents()[0], width = dy.shape().extents().back();
  TensorOf<T> dx({batch, length, width});
  const T* const from = dy.data();
  T* const to = dx.data();
  for_each(batch, length * width, [=] RANKBOX_PORTABLE(std::int64_t n, std::int64_t i) {
    to[n * length * width + i] = i < width ? from[n * width + i] : T{0};
  });
  return dx;
}

template class FirstTokenOf<float>;
template class FirstTokenOf<double>;

}  // namespace rankbox
