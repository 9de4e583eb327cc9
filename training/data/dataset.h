// Samples with labels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/tensor.h"
#include "training/saved.h"

namespace rankbox {

/// All samples have the same shape, {28, 28, 1} or {32}, and are stored one after the other. These
/// are vectors, not tensors: the memory meter should count only models and activations. One
/// dataset, made before the ranks start, serves them all (no rank writes to it).
struct Dataset {
  Shape sample_shape;
  std::vector<float> values;               // size() · sample_shape.elements()
  std::vector<std::int32_t> labels;        // [size()], 0 … classes - 1
  std::vector<std::int32_t> lengths = {};  // of texts: tokens before the padding; else empty
  std::int64_t classes = 0;

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

/// Training and test samples.
struct Split {
  Dataset train;
  Dataset test;
};

/// Samples in the form that a model takes. The last `padding` of them only fill up the batch, and
/// should not be counted.
struct Batch {
  Tensor x;                           // [batch, sample_shape…]
  std::vector<std::int32_t> labels;   // [batch]
  std::vector<std::int64_t> samples;  // [batch] numbers in the dataset
  std::vector<std::int32_t> lengths;  // [batch] of texts; else empty
  std::int64_t padding = 0;

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
  /// What layers need to know about it.
  Pass pass(Mode mode, std::int64_t step = 0) const { return {mode, step, samples, lengths}; }
  /// The labels with kIgnoredLabel for the padding, for exact metrics.
  std::vector<std::int32_t> labels_without_padding() const;
};

/// The samples with these numbers, in this order.
/// Throws InvalidArgument for a number outside the dataset.
Batch gather_batch(const Dataset& dataset, std::span<const std::int64_t> samples);

/// Samples [begin, end) of a batch: a micro-batch. Its padding is the part of the batch's padding
/// inside it.
Batch micro_batch(const Batch& batch, std::int64_t begin, std::int64_t end);

}  // namespace rankbox
