#include "training/layers/residual.h"

#include "compute/for_each.h"
#include "training/rows.h"

namespace rankbox {
namespace {

/// Like `+=` of comm/tensor.h, which would be charged as a reduction.
template <class T>
void add(TensorOf<T>& into, const TensorOf<T>& from) {
  check_same_size("residual", from.size(), into.size());
  T* const sum = into.data();
  const T* const summand = from.data();
  for_each(into.size(), [=] RANKBOX_PORTABLE(std::int64_t i) { sum[i] += summand[i]; });
}

}  // namespace

template <class T>
TensorOf<T> ResidualOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  TensorOf<T> y = clone(x);
  add(y, inner_->forward(std::move(x), saved));
  return y;
}

template <class T>
TensorOf<T> ResidualOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  TensorOf<T> dx = clone(dy);
  add(dx, inner_->backward(std::move(dy), saved));
  return dx;
}

template class ResidualOf<float>;
template class ResidualOf<double>;

}  // namespace rankbox
