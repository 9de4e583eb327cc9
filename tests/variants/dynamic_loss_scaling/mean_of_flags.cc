// The mean of the flags is more than 0 if one of them is 1; a class holds the rule.
#include <algorithm>
#include <cmath>
#include <ranges>
#include <vector>

#include "parallel/dynamic_loss_scaling.h"

namespace rankbox {

namespace {

class Scaler {
 public:
  explicit Scaler(LossScale& scale) : scale_(scale) {}

  void change(float factor) {
    scale_.scale *= factor;
    scale_.good_steps = 0;
  }
  void count() {
    if (scale_.good_steps + 1 == scale_.growth_interval) return change(2);
    ++scale_.good_steps;
  }

 private:
  LossScale& scale_;
};

}  // namespace

void dynamic_loss_scaling(Comm& dist, const std::vector<Parameter*>& parameters, LossScale& scale,
                          bool& skip) {
  const auto is_odd = [](const Parameter* parameter) {
    const std::vector<float> elements = to_host(parameter->gradient);
    return !std::ranges::all_of(elements, [](float x) { return std::abs(x) <= 3.5e38; });
  };
  Tensor flag = full(1, std::ranges::any_of(parameters, is_odd) ? 1.0F : 0.0F);
  dist.wait(dist.all_reduce_async(flag, ReduceOp::AVG));
  skip = to_host(flag).front() != 0;
  Scaler scaler(scale);
  skip ? scaler.change(0.5F) : scaler.count();
}

}  // namespace rankbox
