// In training, sets each element to 0 with probability `rate` and divides the others by 1 - rate;
// in evaluation, does nothing (Srivastava et al. 2014).
//
// Whether an element is kept depends on the generator, the step, the number of the sample in the
// dataset and the element's place in the sample (see Pass), and on nothing else: a global batch
// loses the same elements on one rank and on many. Backward draws the same mask again, so nothing
// is saved.
//
// x [batch, …], of any shape.
#pragma once

#include "training/layer.h"
#include "training/random.h"

namespace rankbox {

template <class T>
class DropoutOf : public LayerOf<T> {
 public:
  /// Throws InvalidArgument unless 0 <= rate < 1.
  DropoutOf(double rate, Random random);

  TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) override;
  TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) override;

 private:
  double rate_;
  Random random_;
};
using Dropout = DropoutOf<float>;

}  // namespace rankbox
