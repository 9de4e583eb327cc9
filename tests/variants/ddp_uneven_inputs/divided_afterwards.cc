// Gradients of sums, divided when they have been added up; counts are integers.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "parallel/ddp_uneven_inputs.h"
#include "training/cross_entropy.h"

namespace rankbox {

void ddp_uneven_inputs(Comm& dist, Sequential& model, Optimizer& optimizer,
                       const std::vector<Batch>& batches) {
  std::size_t step = 0;
  while (true) {
    const bool has_batch = step < batches.size();
    auto samples = from_host(std::vector<std::int64_t>{has_batch ? batches[step].size() : 0});
    dist.all_reduce(samples);
    const std::int64_t all = to_host(samples)[0];
    if (all == 0) break;
    zero_gradients(model.parameters());
    if (has_batch) {
      Saved saved(batches[step].pass(Mode::kTraining));
      const Tensor logits = model.forward(batches[step].x, saved);
      model.backward(cross_entropy(logits, batches[step].labels, 1).gradient, saved);
    }
    for (Parameter* parameter : model.parameters()) {
      Tensor& gradient = gradient_of(*parameter);
      dist.all_reduce(gradient);
      gradient /= static_cast<float>(all);
    }
    optimizer.step();
    ++step;
  }
}

}  // namespace rankbox
