#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"
#include "parallel/clip_global_norm.h"
#include "training/run/strategies/strategy.h"

namespace rankbox::train {

std::span<const Strategy* const> strategies() {
  static constexpr std::array kAll = {&kSingle, &kDp,   &kDdp,    &kZero1,  &kZero2,   &kZero3,
                                      &kFsdp,   &kHsdp, &kTensor, &kExpert, &kPipeline};
  return kAll;
}

void Trainer::clip(Comm& dist, const std::vector<Parameter*>& sharded,
                   const std::vector<Parameter*>& replicated, double max_norm) {
  if (max_norm == 0) return;
  double norm = 0;
  clip_global_norm(dist, sharded, replicated, static_cast<float>(max_norm), norm);
  gradient_norm_ = norm;
}

std::vector<std::string> with_loss_scaling(const Plan& plan, std::vector<std::string> names) {
  if (plan.precision == Precision::kMixed) names.emplace_back("dynamic_loss_scaling");
  return names;
}

const Strategy& strategy_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Strategy* strategy : strategies()) {
    if (strategy->name == name) return *strategy;
    names.push_back(strategy->name);
  }
  throw InvalidArgument(fmt::format("--strategy {}: there is no such strategy, only {}", name,
                                    fmt::join(names, ", ")));
}

std::vector<std::string> exercises_of(const Plan& plan) {
  std::vector<std::string> all = {"distributed_sampler", "exact_metrics"};
  const std::vector<std::string> own = strategy_named(plan.strategy).uses(plan);
  all.insert(all.begin(), own.begin(), own.end());
  if (plan.clip_norm > 0) all.emplace_back("clip_global_norm");
  return all;
}

}  // namespace rankbox::train
