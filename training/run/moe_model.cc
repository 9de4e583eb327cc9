#include "training/run/moe_model.h"

#include "parallel/experts.h"
#include "training/layers/linear.h"
#include "training/layers/relu.h"

namespace rankbox::train {

Model moe(const MoeOptions& options) {
  const Random random(options.seed);
  return {recipe<Linear>("fc1", options.inputs, options.width, random.stream("fc1")),
          recipe<Relu>("relu1"),
          recipe<Experts>("experts", options.width, options.experts, options.k,
                          random.stream("experts")),
          recipe<Relu>("relu2"),
          recipe<Linear>("fc2", options.width, options.classes, random.stream("fc2"))};
}

Model counting_loads(const Model& model, std::vector<std::int64_t>& loads) {
  Model counting;
  for (const auto& recipe : model) {
    const auto make = [&loads, make = recipe.make] {
      std::unique_ptr<Layer> layer = make();
      if (auto* const experts = dynamic_cast<Experts*>(layer.get())) experts->count_loads(loads);
      return layer;
    };
    counting.push_back({recipe.name, make});
  }
  return counting;
}

}  // namespace rankbox::train
