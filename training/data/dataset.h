// Samples with labels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/tensor.h"
#include "training/saved.h"

namespace rankbox {

/// All samples have the same shape, {28, 28, 1} or {32}, and lie one behind the other. Vectors and
/// not tensors: the memory meter should tell of models and activations; and made before the ranks
/// start, one dataset serves them all (none of them writes to it).
struct Dataset {
  Shape sample_shape;
  std::vector<float> values;               // size() · sample_shape.elements()
  std::vector<std::int32_t> labels;        // [size()], 0 … classes - 1
  std::vector<std::int32_t> lengths = {};  // of texts: tokens before the padding; else empty
  std::int64_t classes = 0;

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

/// What is learnt from, and what it is judged on.
struct Split {
  Dataset train;
  Dataset test;
};

/// Some samples, as a model takes them. The last `padding` of them were put there to make up the
/// number, and should not be counted.
struct Batch {
  Tensor x;                           // [batch, sample_shape…]
  std::vector<std::int32_t> labels;   // [batch]
  std::vector<std::int64_t> samples;  // [batch] numbers in the dataset
  std::vector<std::int32_t> lengths;  // [batch] of texts; else empty
  std::int64_t padding = 0;

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
  /// What layers should know of it.
  Pass pass(Mode mode, std::int64_t step = 0) const { return {mode, step, samples, lengths}; }
  /// With kIgnoredLabel for the padding: what exact metrics are computed with.
  std::vector<std::int32_t> labels_without_padding() const;
};

/// The samples of these numbers, in this order.
/// Throws InvalidArgument for a number that is none of the dataset's.
Batch gather_batch(const Dataset& dataset, std::span<const std::int64_t> samples);

/// Samples [begin, end) of a batch: a micro-batch. Its padding is what lies in it.
Batch micro_batch(const Batch& batch, std::int64_t begin, std::int64_t end);

}  // namespace rankbox
