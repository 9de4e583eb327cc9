// Judges ddp_init_broadcast: all ranks start with rank 0's parameters and statistics.
#include "parallel/ddp_init_broadcast.h"

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/inputs.h"
#include "judge/training/native_calls.h"
#include "judge/training/parameters.h"
#include "judge/training_families.h"
#include "training/parameter.h"

namespace rankbox {

namespace {

using Function = decltype(&ddp_init_broadcast);

constexpr std::uint64_t kFirstStatistic = 8;  // tensors before it are parameters

/// Compares tensor number `tensor` with rank 0's elements.
std::optional<Difference> compare_begun(const std::string& name, const Tensor& actual,
                                        std::int64_t size, int world_size, std::uint64_t tensor) {
  return compare_moved(
      name, actual, size, world_size, [&](std::int64_t i) { return element(0, i, tensor); },
      tensor);
}

/// None, three, as many as a deep model has, or two.
std::int64_t statistics_in(std::int64_t count) {
  return count == 1 ? 0 : count == 3 ? 3 : count == 2 ? 26 : 2;
}

/// They differ in size.
std::int64_t size_of_statistic(std::int64_t i, std::int64_t count) { return count + i / 2; }

std::string name_of_statistic(std::int64_t i) {
  return fmt::format("norm{}.running_{}", i / 2 + 1, i % 2 == 0 ? "mean" : "variance");
}

std::vector<NamedTensor> statistics_of(int rank, std::int64_t count) {
  std::vector<NamedTensor> all;
  for (std::int64_t i = 0; i < statistics_in(count); ++i)
    all.push_back(
        {name_of_statistic(i), elements_of(rank, size_of_statistic(i, count),
                                           kFirstStatistic + static_cast<std::uint64_t>(i))});
  return all;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size();
  const std::vector<std::int64_t> sizes = parameter_sizes(*example.count);
  const ParameterList model = make_parameters(sizes, dist.rank(), p);
  std::vector<NamedTensor> statistics = statistics_of(dist.rank(), *example.count);
  std::vector<NamedTensor*> pointers;
  for (NamedTensor& statistic : statistics) pointers.push_back(&statistic);
  const ParameterList before = make_parameters(sizes, dist.rank(), p);

  function(dist, model.pointers, pointers);

  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const Parameter& parameter = model.all[k];
    if (auto wrong = compare_begun(parameter.name, parameter.value, sizes[k], p, k)) return wrong;
    if (auto wrong = compare_parameter_shape(parameter.name, parameter.value)) return wrong;
    const std::vector<float> gradient = to_host(before.all[k].gradient);
    auto wrong = compare(
        parameter.name + "'s gradient", parameter.gradient, before.all[k].gradient.size(),
        [&](std::int64_t i) { return gradient[static_cast<std::size_t>(i)]; },
        [](float, std::int64_t) {
          return Hint("gradients-unchanged", "gradients have to stay as they were");
        });
    if (wrong) return wrong;
  }
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    const std::int64_t size = size_of_statistic(static_cast<std::int64_t>(i), *example.count);
    if (auto wrong =
            compare_begun(statistics[i].name, statistics[i].value, size, p, kFirstStatistic + i))
      return wrong;
  }
  return std::nullopt;
}

NativeCalls calls(const Case& example) {
  std::vector<std::int64_t> sizes = parameter_sizes(*example.count);
  for (std::int64_t i = 0; i < statistics_in(*example.count); ++i)
    sizes.push_back(size_of_statistic(i, *example.count));
  return calls_of(CollectiveKind::kBroadcast, sizes);
}

}  // namespace

Family family::ddp_init_broadcast() {
  return make_family<Function>("ddp_init_broadcast",
                               "(Comm& dist, const std::vector<Parameter*>& parameters, "
                               "const std::vector<NamedTensor*>& statistics)",
                               subject_with_calls(cases_by_count, calls), run);
}

}  // namespace rankbox
