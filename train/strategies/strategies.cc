#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"
#include "train/strategies/strategy.h"

namespace rankbox::train {

std::span<const Strategy* const> strategies() {
  static constexpr std::array kAll = {&kSingle, &kDp,    &kDdp,    &kZero1,
                                      &kZero2,  &kZero3, &kTensor, &kPipeline};
  return kAll;
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
  return all;
}

}  // namespace rankbox::train
