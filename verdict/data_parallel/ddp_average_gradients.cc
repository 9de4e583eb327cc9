#include "verdict/data_parallel/ddp_average_gradients.h"

#include "verdict/data_parallel/parameters.h"
#include "verdict/data_parallel/small_training.h"

namespace rankbox {

std::vector<Case> DdpAverageGradients::cases() const { return cases_with_training(); }

std::optional<Difference> DdpAverageGradients::run(Comm& dist, const Case& example) const {
  if (*example.steps > 0) {
    return compare_training(dist, example, [&](Sequential& model, const Batch& mine) {
      add_gradients(model, mine);
      function_(dist, model.parameters());
    });
  }
  const auto parameters =
      make_parameters(parameter_sizes(*example.count), dist.rank(), dist.world_size());
  function_(dist, parameters.pointers);
  return compare_averaged(parameters, dist.rank(), dist.world_size());
}

Cost DdpAverageGradients::cost(const Case& example) const {
  const int p = example.world_size;
  if (*example.steps == 0)
    return native(CollectiveKind::kAllReduce, p, parameter_sizes(*example.count));
  return times(*example.steps,
               native(CollectiveKind::kAllReduce, p, small_model_sizes(*example.count)));
}

}  // namespace rankbox
