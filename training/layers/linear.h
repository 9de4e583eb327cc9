// y = x Wᵀ + b
//
// x [… , in] → y [… , out]; W [out, in], b [out]. The last extents of x must multiply to `in`:
// images [32, 7, 7, 64] are 32 rows of 3136.
//
// With an empty b, y = x Wᵀ.
//
// Backward: dW += dyᵀ x, db += the sum of dy's rows, dx = dy W. Saves x.
// Cost: 2 rows·in·out operations forward, twice that backward.
// Starts uniform in ±1/√in.
#pragma once

#include "training/layer.h"
#include "training/random.h"

namespace rankbox {

template <class T>
class LinearOf : public LayerOf<T> {
 public:
  LinearOf(std::int64_t in, std::int64_t out, Random random);
  /// A layer with these values: W [out, in], and b [out], or empty.
  LinearOf(TensorOf<T> weights, TensorOf<T> biases);

  TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) override;
  TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) override;
  std::vector<ParameterOf<T>*> parameters() override;

  ParameterOf<T> weight;
  ParameterOf<T> bias;

 private:
  std::int64_t in_;
  std::int64_t out_;
  bool has_bias_ = true;  // its value may be absent: zero3 drops it
};
using Linear = LinearOf<float>;

}  // namespace rankbox
