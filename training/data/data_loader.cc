#include "training/data/data_loader.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox {

DataLoader::DataLoader(const Dataset& dataset, const LoaderOptions& options, Sampler sampler)
    : dataset_(&dataset), options_(options), sampler_(std::move(sampler)) {
  if (options.batch < 1) {
    throw InvalidArgument(
        fmt::format("a batch of {} samples: at least 1 is needed", options.batch));
  }
  set_epoch(0);
}

void DataLoader::set_epoch(std::int64_t epoch) {
  const SamplerOptions options = {.rank = options_.rank,
                                  .world_size = options_.world_size,
                                  .shuffle = options_.shuffle,
                                  .drop_last = options_.drop_last,
                                  .seed = options_.seed,
                                  .epoch = epoch};
  sampler_(dataset_->size(), options, share_);
}

std::int64_t DataLoader::size() const {
  const auto samples = static_cast<std::int64_t>(share_.samples.size());
  return options_.drop_last ? samples / options_.batch
                            : (samples + options_.batch - 1) / options_.batch;
}

Batch DataLoader::batch(std::int64_t i) const {
  if (i < 0 || i >= size())
    throw InvalidArgument(fmt::format("batch {} of {}: there is no such batch", i, size()));
  const auto samples = static_cast<std::int64_t>(share_.samples.size());
  const std::int64_t begin = i * options_.batch;
  const std::int64_t end = std::min(begin + options_.batch, samples);
  Batch batch = gather_batch(*dataset_, std::span(share_.samples)
                                            .subspan(static_cast<std::size_t>(begin),
                                                     static_cast<std::size_t>(end - begin)));
  batch.padding = std::clamp<std::int64_t>(end - (samples - share_.padding), 0, end - begin);
  return batch;
}

}  // namespace rankbox
