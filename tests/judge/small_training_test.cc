// The small training that judges data parallel exercises learns.
//
// Comparing with it is therefore meaningful.
#include "judge/training/small_training.h"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "judge/salt.h"
#include "judge/sharding/sharded_training.h"

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

/// Trains twice on one rank, the second time from parameters that differ by a rounding each.
/// Returns the largest difference of what comes of it.
double effect_of_rounding(const Model& model, int world_size, int steps) {
  Sequential one(model), other(model);
  Random random(5);
  for (Parameter* parameter : other.parameters()) {
    std::vector<float> values = to_host(parameter->value);
    for (float& value : values) value *= random.chance(0.5) ? 1 + 0x1p-23F : 1 - 0x1p-24F;
    parameter->value = from_host(values, parameter->value.shape());
  }
  train_alone(one, world_size, steps);
  train_alone(other, world_size, steps);
  double most = 0;
  for (std::size_t k = 0; k < one.parameters().size(); ++k) {
    const std::vector<float> a = to_host(one.parameters()[k]->value);
    const std::vector<float> b = to_host(other.parameters()[k]->value);
    for (std::size_t i = 0; i < a.size(); ++i)
      most = std::max(most, std::abs(double{a[i]} - double{b[i]}));
  }
  return most;
}

/// In these, with a ReLU instead of a GELU, a value next to 0 is rounded to the other side;
/// except for the first.
constexpr std::uint64_t kSaltsOfKinks[] = {
    0,
    350294707848960,
    539220921947803,
    1823679179359096,
    3203790507442560,
    3563003163552444,
    4867367388883115,
    5832748819018383,
    8883939939631024,
};

TEST_CASE("what is rounded otherwise moves no parameter by a twentieth of the bound") {
  constexpr double kMost = double{kTrainingBound} / 20;
  for (const std::uint64_t number : kSaltsOfKinks) {
    set_salt(number);
    CAPTURE(number);
    CHECK(effect_of_rounding(sharded_model(160), 8, 2) < kMost);
    CHECK(effect_of_rounding(sharded_model(9), 17, 20) < kMost);
    CHECK(effect_of_rounding(deeper_model(9), 17, 20) < kMost);
    CHECK(effect_of_rounding(small_model(9), 24, 20) < kMost);
  }
  set_salt(0);
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
