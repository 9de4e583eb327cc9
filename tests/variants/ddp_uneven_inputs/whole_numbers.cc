// The count is a whole number, and everything is started and then waited for.
#include <vector>

#include "parallel/ddp_uneven_inputs.h"
#include "training/cross_entropy.h"

namespace rankbox {

namespace {

std::int64_t samples_of_all(Comm& dist, std::int64_t mine) {
  auto count = from_host({mine});
  dist.wait(dist.all_reduce_async(count, ReduceOp::SUM));
  return to_host(count)[0];
}

}  // namespace

void ddp_uneven_inputs(Comm& dist, Sequential& model, Optimizer& optimizer,
                       const std::vector<Batch>& batches) {
  const auto size_of = [&](std::size_t i) { return i < batches.size() ? batches[i].size() : 0; };
  std::int64_t all = samples_of_all(dist, size_of(0));
  for (std::size_t i = 0; all > 0; all = samples_of_all(dist, size_of(++i))) {
    if (i < batches.size()) {
      Saved saved(batches[i].pass(Mode::kTraining));
      const Tensor y = model.forward(batches[i].x, saved);
      const Loss loss = cross_entropy(y, batches[i].labels, static_cast<double>(all));
      model.backward(loss.gradient, saved);
    }
    std::vector<Request> requests;
    for (Parameter* parameter : model.parameters())
      requests.push_back(dist.all_reduce_async(gradient_of(*parameter)));
    dist.wait_all(requests);
    optimizer.step();
    zero_gradients(model.parameters());
  }
}

}  // namespace rankbox
