// The small training that judges parallel_mlp learns, so comparing with it is meaningful.
#include "verdict/tensor_parallel/mlp_training.h"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "parallel/layer_shards.h"
#include "training/cross_entropy.h"
#include "training/layers/gelu.h"
#include "verdict/training/small_training.h"

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
        const Tensor& was = before.parameters()[i]->value;
        const Tensor& is = after.parameters()[i]->value;
        double most = 0;
        for (std::int64_t k = 0; k < was.size(); ++k)
          most = std::max(most, std::abs(double{is.data()[k]} - was.data()[k]));
        CAPTURE(i);
        CHECK(most > 100 * double{kTrainingBound});
      }
    }
  }
}

TEST_CASE("ranks' parts put together are the whole") {
  const Tensor whole = small_values({7, 5}, "whole");
  for (const int p : {1, 2, 3, 5, 8}) {
    std::vector<float> rows;
    std::int64_t columns = 0;
    for (int r = 0; r < p; ++r) {
      for (const float value : to_host(row_part(whole, r, p))) rows.push_back(value);
      const Tensor part = column_part(whole, r, p);
      const std::int64_t width = part.shape().extents()[1];
      for (std::int64_t i = 0; i < part.size(); ++i)
        CHECK(part.data()[i] == whole.data()[i / width * 5 + columns + i % width]);
      columns += width;
    }
    CHECK(rows == to_host(whole));
    CHECK(columns == 5);
  }
}

}  // namespace
}  // namespace rankbox
