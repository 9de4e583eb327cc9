// The small training that judges parallel_mlp learns, so comparing with it is meaningful.
#include "judge/tensor_parallel/mlp_training.h"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "judge/training/small_training.h"
#include "training/cross_entropy.h"
#include "training/layers/gelu.h"

namespace rankbox {
namespace {

/// Returns the loss on samples outside the training set.
double loss_of(Block& model) {
  const Batch batch = small_batch(100, 1000);
  Saved saved(batch.pass(Mode::kEvaluation));
  Gelu gelu;
  Chain chain(model.first, gelu, model.last);
  return cross_entropy(chain.forward(batch.x, saved), batch.labels).mean();
}

TEST_CASE(
    "20 steps alone change every part of every rank by far more than the bound, and the loss "
    "falls") {
  for (const int p : mlp_training_sizes()) {
    CAPTURE(p);
    const BlockShape shape = mlp_shape(kMlpInputs, kMlpClasses, p);
    Block fresh(shape), trained(shape);
    train_mlp_alone(trained, 20);
    CHECK(loss_of(trained) < 0.9 * loss_of(fresh));

    for (int r = 0; r < p; ++r) {
      CAPTURE(r);
      BlockShard before(fresh, r, p), after(trained, r, p);
      for (std::size_t i = 0; i < before.parameters().size(); ++i) {
        const std::vector<float> was = to_host(before.parameters()[i]->value);
        const std::vector<float> is = to_host(after.parameters()[i]->value);
        double most = 0;
        for (std::size_t k = 0; k < was.size(); ++k)
          most = std::max(most, std::abs(double{is[k]} - was[k]));
        CAPTURE(i);
        CHECK(most > 100 * double{kTrainingBound});
      }
    }
  }
}

}  // namespace
}  // namespace rankbox
