// A rank's batches of a dataset, epoch by epoch.
//
//   DataLoader loader(dataset, {.batch = 64, .rank = dist.rank(), .world_size = dist.world_size()},
//                     distributed_sampler);           // optional with one rank
//   for (int epoch = 0; epoch < 3; ++epoch) {
//     loader.set_epoch(epoch);                        // otherwise every epoch has the same order
//     for (std::int64_t i = 0; i < loader.size(); ++i) {
//       const Batch batch = loader.batch(i);
//
// Any batch can be requested, so a run may resume in the middle of an epoch.
//
// Cost: a batch is copied once. Holds a reference to the dataset. Thread safety: several threads
// may call batch(); each rank has its own loader.
#pragma once

#include <functional>

#include "training/data/dataset.h"
#include "training/data/sampler.h"

namespace rankbox {

struct LoaderOptions {
  std::int64_t batch = 64;  // samples of a batch on this rank; the last may be smaller
  bool shuffle = true;
  bool drop_last = false;  // no smaller batch at the end, and no padding for equal shares
  std::uint64_t seed = 1;
  int rank = 0;
  int world_size = 1;
};

class DataLoader {
 public:
  /// Throws InvalidArgument for a batch below 1, and as the sampler does.
  DataLoader(const Dataset& dataset, const LoaderOptions& options, Sampler sampler = whole_epoch);

  void set_epoch(std::int64_t epoch);
  /// The number of batches in an epoch; the same on all ranks.
  std::int64_t size() const;
  /// Batch i of the epoch. Throws InvalidArgument if there is no such batch.
  Batch batch(std::int64_t i) const;

 private:
  const Dataset* dataset_;
  LoaderOptions options_;
  Sampler sampler_;
  Share share_;
};

}  // namespace rankbox
