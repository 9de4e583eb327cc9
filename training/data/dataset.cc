#include "training/data/dataset.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/cross_entropy.h"

namespace rankbox {
namespace {

Shape batch_shape(std::int64_t batch, const std::vector<std::int64_t>& sample) {
  std::vector<std::int64_t> extents = {batch};
  extents.insert(extents.end(), sample.begin(), sample.end());
  return extents;
}

}  // namespace

std::vector<std::int32_t> Batch::labels_without_padding() const {
  std::vector<std::int32_t> counted = labels;
  std::fill(counted.end() - padding, counted.end(), kIgnoredLabel);
  return counted;
}

Batch gather_batch(const Dataset& dataset, std::span<const std::int64_t> samples) {
  const std::int64_t elements = dataset.sample_shape.elements();
  Batch batch;
  batch.samples.assign(samples.begin(), samples.end());
  std::vector<float> values;
  values.reserve(samples.size() * static_cast<std::size_t>(elements));
  for (const std::int64_t sample : samples) {
    if (sample < 0 || sample >= dataset.size()) {
      throw InvalidArgument(fmt::format("sample {} of a dataset of {}: there is no such sample",
                                        sample, dataset.size()));
    }
    const auto from = dataset.values.begin() + sample * elements;
    values.insert(values.end(), from, from + elements);
    batch.labels.push_back(dataset.labels[static_cast<std::size_t>(sample)]);
    if (!dataset.lengths.empty())
      batch.lengths.push_back(dataset.lengths[static_cast<std::size_t>(sample)]);
  }
  batch.x = from_host(values, batch_shape(batch.size(), dataset.sample_shape.extents()));
  return batch;
}

Batch micro_batch(const Batch& batch, std::int64_t begin, std::int64_t end) {
  if (begin < 0 || begin > end || end > batch.size()) {
    throw InvalidArgument(fmt::format("samples {} to {} of a batch of {}: there are no such", begin,
                                      end, batch.size()));
  }
  const auto piece = [=](const auto& whole) {
    using Vector = std::remove_cvref_t<decltype(whole)>;
    return whole.empty() ? Vector{} : Vector(whole.begin() + begin, whole.begin() + end);
  };
  std::vector<std::int64_t> extents = batch.x.shape().extents();
  const std::int64_t elements = batch.size() == 0 ? 0 : batch.x.size() / batch.size();
  extents.front() = end - begin;
  Batch micro{Tensor(extents), piece(batch.labels), piece(batch.samples), piece(batch.lengths)};
  copy(micro.x, Slice(batch.x).sub(begin * elements, end * elements));
  micro.padding = std::clamp<std::int64_t>(end - (batch.size() - batch.padding), 0, end - begin);
  return micro;
}

}  // namespace rankbox
