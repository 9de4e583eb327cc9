// Compares tensors, and finds the known mistake that makes them wrong.
//
// Each mistake is made here as well. The first one that leaves the same tensors becomes the hint.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "training/data/dataset.h"
#include "training/sequential.h"
#include "verdict/subject.h"

namespace rankbox {

/// Of a model's parameters, by name: "fc1.weight's gradient", "fc1.weight".
std::vector<NamedTensor> gradients_of(Sequential& model);
std::vector<NamedTensor> values_of(const std::vector<Parameter*>& parameters);

/// A mistake, and the tensors that it leaves.
struct Mistake {
  const char* hint;
  std::function<std::vector<NamedTensor>()> tensors;
};

/// Returns the first element that is further than `bound` from the expected one; NaN always is. The
/// hint is that of the first mistake whose tensors are the actual ones, or `otherwise`.
/// @param same how far tensors of the same mistake may be apart; 0: as far as `bound`
std::optional<Difference> compare_tensors(const std::vector<NamedTensor>& actual,
                                          const std::vector<NamedTensor>& expected, float bound,
                                          const std::vector<Mistake>& mistakes,
                                          const char* otherwise, float same = 0);

/// A batch, and the weight of its mean loss in a sum.
struct Weighted {
  Batch batch;
  double weight = 1;
};

/// Adds the gradient of the weighted sum of mean losses.
void add_weighted_gradients(Sequential& model, const std::vector<Weighted>& batches);

}  // namespace rankbox
