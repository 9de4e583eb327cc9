// Judges ddp_average_gradients: gradients become their means, and all replicas stay equal.
#include "parallel/ddp_average_gradients.h"

#include <algorithm>

#include "judge/training/native_calls.h"
#include "judge/training/parameters.h"
#include "judge/training/small_training.h"
#include "judge/training_families.h"
#include "training/parameter.h"

namespace rankbox {

namespace {

using Function = decltype(&ddp_average_gradients);

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  if (*example.steps > 0) {
    return compare_training(dist, example, [&](Sequential& model, const Batch& mine) {
      add_gradients(model, mine);
      function(dist, model.parameters());
    });
  }
  const auto parameters =
      make_parameters(parameter_sizes(*example.count), dist.rank(), dist.world_size());
  function(dist, parameters.pointers);
  return compare_averaged(parameters, dist.rank(), dist.world_size());
}

std::vector<std::int64_t> sizes_in(const Case& example) {
  return *example.steps == 0 ? parameter_sizes(*example.count) : small_model_sizes(*example.count);
}

NativeCalls calls(const Case& example) {
  return repeated(std::max(1, *example.steps),
                  calls_of(CollectiveKind::kAllReduce, sizes_in(example)));
}

}  // namespace

Family family::ddp_average_gradients() {
  Subject subject = subject_with_calls(cases_with_training, calls);
  subject.cost_unit = [](const Case& example) { return psi_of(sizes_in(example)); };
  return make_family<Function>("ddp_average_gradients",
                               "(Comm& dist, const std::vector<Parameter*>& parameters)", subject,
                               run);
}

}  // namespace rankbox
