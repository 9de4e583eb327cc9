// Halves the weights until one is left.
#include <cstdint>

#include "parallel/master_weights.h"

namespace rankbox {

namespace {

struct Step {
  const Float16* gradient;
  float scale, rate;
  float* master;
  Float16* weights;

  void take(std::int64_t begin, std::int64_t end) const {
    if (begin == end) return;
    if (end - begin > 1) {
      const std::int64_t middle = begin + (end - begin) / 2;
      take(middle, end);
      take(begin, middle);
      return;
    }
    master[begin] = master[begin] - rate * (float{gradient[begin]} / scale);
    weights[begin] = Float16(master[begin]);
  }
};

}  // namespace

void master_weights(const TensorOf<Float16>& gradient, float loss_scale, float learning_rate,
                    Tensor& master, TensorOf<Float16>& weights) {
  const Step step{gradient.data(), loss_scale, learning_rate, master.data(), weights.data()};
  step.take(0, master.size());
}

}  // namespace rankbox
