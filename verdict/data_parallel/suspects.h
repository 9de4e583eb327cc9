// Telling from wrong tensors which mistake made them: each mistake that people make is made here as
// well, and the one that leaves the same is named.
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
std::vector<NamedTensor> values_of(Sequential& model);

/// A mistake, and the tensors that it leaves.
struct Suspect {
  const char* hint;
  std::function<std::vector<NamedTensor>()> tensors;
};

/// The first element further than `bound` from what it should be. Which mistake it was, is looked for
/// only then: the first whose tensors are the actual ones, or `otherwise`.
std::optional<Difference> compare_tensors(const std::vector<NamedTensor>& actual,
                                          const std::vector<NamedTensor>& expected, float bound,
                                          const std::vector<Suspect>& suspects,
                                          const char* otherwise);

/// A batch whose mean loss counts so much.
struct Weighted {
  Batch batch;
  double weight = 1;
};

/// Adds the gradient of the weighted sum of mean losses.
void add_weighted_gradients(Sequential& model, const std::vector<Weighted>& batches);

}  // namespace rankbox
