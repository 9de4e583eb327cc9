#include "training/layers/first_token.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm/errors.h"
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
  for (std::int64_t n = 0; n < extents[0]; ++n)
    std::copy_n(x.data() + n * length * width, width, y.data() + n * width);
  saved.push(full<std::int32_t>(1, static_cast<std::int32_t>(length)));
  return y;
}

template <class T>
TensorOf<T> FirstTokenOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  const std::int64_t length = saved.pop_integers().data()[0];
  const std::int64_t batch = dy.shape().extents()[0], width = dy.shape().extents().back();
  TensorOf<T> dx = zeros<T>({batch, length, width});
  for (std::int64_t n = 0; n < batch; ++n)
    std::copy_n(dy.data() + n * width, width, dx.data() + n * length * width);
  return dx;
}

template class FirstTokenOf<float>;
template class FirstTokenOf<double>;

}  // namespace rankbox
