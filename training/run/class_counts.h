// Counts of a classifier's answers per class, and F1, exact over any number of ranks.
//
// Counts are integers, and add up over batches and ranks. So F1 does not depend on how the samples
// were shared. Means of the ranks' F1 would.
//
//   F1 of a class = 2 TP / (2 TP + FP + FN)      TP correct, FP wrongly this class, FN missed
//   two classes     that of class 1, "positive"
//   more            macro: the mean over the classes, each of which counts the same; a class that
//                   is neither a label nor an answer is left out, as in scikit-learn
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/comm.h"

namespace rankbox::train {

class ClassCounts {
 public:
  explicit ClassCounts(std::int64_t classes) : counts_(static_cast<std::size_t>(3 * classes)) {}

  /// Adds the rows of logits [batch, classes]. The answer is the first of the largest logits; NaN
  /// is never an answer. Labels below 0 (padding) do not count.
  void add(const Tensor& logits, std::span<const std::int32_t> labels);

  /// Adds those of the other ranks. Collective.
  void add_over_ranks(Comm& dist);

  /// Returns 0 if nothing was counted.
  double f1() const;

 private:
  std::vector<std::int64_t> counts_;  // [class][correct, answered, labelled]
};

}  // namespace rankbox::train
