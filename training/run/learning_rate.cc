#include "training/run/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rankbox::train {

double learning_rate_at(const Plan& plan, std::int64_t step, std::int64_t steps) {
  const std::int64_t warm_up = plan.warmup_steps;
  if (step < warm_up) {
    return plan.learning_rate * static_cast<double>(step + 1) / static_cast<double>(warm_up);
  }
  // A checkpoint of a longer run may have passed the end.
  const auto rest = static_cast<double>(std::max<std::int64_t>(steps - warm_up, 1));
  const double done = std::min(static_cast<double>(step - warm_up) / rest, 1.0);
  switch (plan.decay) {
    case Decay::kConstant:
      break;
    case Decay::kLinear:
      return plan.learning_rate * (1 - done);
    case Decay::kCosine:
      return plan.learning_rate * (1 + std::cos(std::numbers::pi * done)) / 2;
  }
  return plan.learning_rate;
}

}  // namespace rankbox::train
