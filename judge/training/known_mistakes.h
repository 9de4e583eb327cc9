// Compares tensors, and finds the known mistake that makes them wrong.
//
// The judge reproduces each mistake. The first one with the same tensors supplies the hint.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "judge/subject.h"
#include "training/data/dataset.h"
#include "training/sequential.h"

namespace rankbox {

/// Both return a model's tensors by name: "fc1.weight's gradient", "fc1.weight".
std::vector<NamedTensor> gradients_of(Sequential& model);
std::vector<NamedTensor> values_of(const std::vector<Parameter*>& parameters);

/// A mistake, and the tensors that it produces.
struct Mistake {
  Hint hint;
  std::function<std::vector<NamedTensor>()> tensors;
};

/// Returns the first element that differs from the expected one by more than `bound`, times the
/// tensor's largest expected element if that is more than 1; NaN always differs. The hint is that
/// of the first mistake with the actual tensors, or `otherwise`.
/// @param same how far tensors of the same mistake may differ; 0: as far as `bound`
std::optional<Difference> compare_tensors(const std::vector<NamedTensor>& actual,
                                          const std::vector<NamedTensor>& expected, float bound,
                                          const std::vector<Mistake>& mistakes,
                                          const Hint& otherwise, float same = 0);

/// A batch, and the weight of its mean loss in a sum.
struct Weighted {
  Batch batch;
  double weight = 1;
};

/// Adds the gradient of the weighted sum of mean losses.
void add_weighted_gradients(Sequential& model, const std::vector<Weighted>& batches);

}  // namespace rankbox
