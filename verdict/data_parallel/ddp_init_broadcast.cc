#include "verdict/data_parallel/ddp_init_broadcast.h"

#include "verdict/compare.h"
#include "verdict/data_parallel/parameters.h"
#include "verdict/inputs.h"
#include "verdict/tables.h"

namespace rankbox {

namespace {

/// Rank 0's elements, in a tensor that belongs to `name`.
std::optional<Difference> compare_begun(const std::string& name, const Tensor& actual,
                                        std::int64_t size, int world_size) {
  return compare_moved(name.c_str(), actual, size, world_size,
                       [](std::int64_t i) { return element(0, i); });
}

}  // namespace

std::vector<Case> DdpInitBroadcast::cases() const { return cases_by_count(); }

std::optional<Difference> DdpInitBroadcast::run(Comm& dist, const Case& example) const {
  const int p = dist.world_size();
  const std::vector<std::int64_t> sizes = parameter_sizes(*example.count);
  const ParameterList model = make_parameters(sizes, dist.rank(), p);
  NamedTensor mean{"norm.running_mean", elements_of(dist.rank(), *example.count)};
  NamedTensor variance{"norm.running_variance", elements_of(dist.rank(), *example.count)};
  const ParameterList before = make_parameters(sizes, dist.rank(), p);

  function_(dist, model.pointers, {&mean, &variance});

  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const Parameter& parameter = model.all[k];
    if (auto wrong = compare_begun(parameter.name, parameter.value, sizes[k], p)) return wrong;
    const std::vector<float> gradient = to_host(before.all[k].gradient);
    const std::string name = parameter.name + "'s gradient";
    auto wrong = compare(
        name.c_str(), parameter.gradient, before.all[k].gradient.size(),
        [&](std::int64_t i) { return gradient[static_cast<std::size_t>(i)]; },
        [](float, std::int64_t) { return std::string(); });
    if (!wrong) continue;
    wrong->hint = "gradients have to stay as they were";
    return wrong;
  }
  for (const NamedTensor* statistic : {&mean, &variance}) {
    if (auto wrong = compare_begun(statistic->name, statistic->value, *example.count, p))
      return wrong;
  }
  return std::nullopt;
}

Cost DdpInitBroadcast::cost(const Case& example) const {
  std::vector<std::int64_t> sizes = parameter_sizes(*example.count);
  sizes.insert(sizes.end(), 2, *example.count);
  return native(CollectiveKind::kBroadcast, example.world_size, sizes);
}

}  // namespace rankbox
