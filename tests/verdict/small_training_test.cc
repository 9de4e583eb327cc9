// The small training that judges data parallel exercises learns.
//
// Comparing with it is therefore meaningful.
#include "verdict/training/small_training.h"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "verdict/sharding/sharded_training.h"

namespace rankbox {
namespace {

/// Checks that training alone changes an element of every parameter by far more than the bound, and
/// lowers the loss to this fraction.
void check_it_learns(const Model& model, int world_size, double part) {
  Sequential before(model), after(model);
  train_alone(after, world_size, 20);
  for (std::size_t i = 0; i < before.parameters().size(); ++i) {
    const std::vector<float> was = to_host(before.parameters()[i]->value);
    const std::vector<float> is = to_host(after.parameters()[i]->value);
    CAPTURE(before.parameters()[i]->name);
    double most = 0;
    for (std::size_t k = 0; k < was.size(); ++k)
      most = std::max(most, std::abs(double{is[k]} - was[k]));
    CHECK(most > 100 * double{kTrainingBound});
  }
  const Batch others = small_batch(100, 1000);  // outside the training set
  CHECK(add_gradients(after, others) < part * add_gradients(before, others));
}

TEST_CASE("training alone changes every parameter by far more than the bound, and the loss falls") {
  for (const int p : {1, 2, 5, 17}) {
    CAPTURE(p);
    for (const std::int64_t hidden : {5, 9}) {
      CAPTURE(hidden);
      check_it_learns(small_model(hidden), p, 0.9);
    }
    // Deeper models have only begun to learn after 20 steps.
    check_it_learns(deeper_model(9), p, 0.98);
    check_it_learns(sharded_model(9), p, 0.995);
  }
}

TEST_CASE("the parts of a batch are the batch; steps have other ones") {
  for (const int p : {1, 3, 8}) {
    const Batch whole = small_batch(p, 2);
    std::vector<float> values;
    std::vector<std::int32_t> labels;
    for (int rank = 0; rank < p; ++rank) {
      const Batch part = part_of(whole, rank, p);
      CHECK(part.size() == kSamplesPerRank);
      const std::vector<float> x = to_host(part.x);
      values.insert(values.end(), x.begin(), x.end());
      labels.insert(labels.end(), part.labels.begin(), part.labels.end());
    }
    CHECK(values == to_host(whole.x));
    CHECK(labels == whole.labels);
    CHECK(to_host(small_batch(p, 3).x) != values);
  }
}

TEST_CASE("the sizes that costs are computed from are the model's") {
  for (const std::int64_t hidden : {1, 5, 9}) {
    Sequential model(small_model(hidden));
    std::vector<std::int64_t> sizes;
    for (const Parameter* parameter : model.parameters()) sizes.push_back(parameter->value.size());
    CHECK(sizes == small_model_sizes(hidden));
  }
}

}  // namespace
}  // namespace rankbox
