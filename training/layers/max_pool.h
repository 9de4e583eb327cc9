// The largest of every window × window pixels, channel by channel; windows do not overlap.
//
// x [batch, height, width, channels] → y [batch, height / window, width / window, channels];
// leftover lines at the end are ignored. dx is dy at the largest pixel (the first of several), 0
// elsewhere. Saves which pixel of the window it was.
#pragma once

#include "training/layer.h"

namespace rankbox {

template <class T>
class MaxPoolOf : public LayerOf<T> {
 public:
  explicit MaxPoolOf(std::int64_t window = 2) : window_(window) {}

  TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) override;
  TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) override;

 private:
  std::int64_t window_;
};
using MaxPool = MaxPoolOf<float>;

}  // namespace rankbox
