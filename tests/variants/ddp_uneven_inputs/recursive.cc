// A step is a call, which calls the next one.
#include <span>
#include <vector>

#include "parallel/ddp_uneven_inputs.h"
#include "training/cross_entropy.h"

namespace rankbox {

namespace {

struct Training {
  Comm& dist;
  Sequential& model;
  Optimizer& optimizer;

  void go_on(std::span<const Batch> rest) const {
    auto total = from_host({rest.empty() ? 0.0 : static_cast<double>(rest[0].size())});
    dist.all_reduce(total);
    const double samples = to_host(total)[0];
    if (samples < 0.5) return;
    zero_gradients(model.parameters());
    if (!rest.empty()) learn(rest[0], samples);
    const std::vector<Parameter*> all = model.parameters();
    for (std::size_t i = all.size(); i-- > 0;) dist.all_reduce(gradient_of(*all[i]));
    optimizer.step();
    go_on(rest.empty() ? rest : rest.subspan(1));
  }

  void learn(const Batch& batch, double samples) const {
    Saved saved(batch.pass(Mode::kTraining));
    Loss loss = cross_entropy(model.forward(batch.x, saved), batch.labels, samples);
    model.backward(std::move(loss.gradient), saved);
  }
};

}  // namespace

void ddp_uneven_inputs(Comm& dist, Sequential& model, Optimizer& optimizer,
                       const std::vector<Batch>& batches) {
  Training{dist, model, optimizer}.go_on(batches);
}

}  // namespace rankbox
