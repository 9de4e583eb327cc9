#include "training/run/evaluate.h"

#include "parallel/distributed_sampler.h"
#include "parallel/exact_metrics.h"
#include "training/data/data_loader.h"

namespace rankbox::train {
namespace {

// Large enough for the matrix products, small enough for the memory of a rank.
constexpr std::int64_t kBatch = 250;

}  // namespace

Evaluation evaluate(Comm& dist, Trainer& trainer, const Dataset& dataset) {
  const DataShare share = trainer.data_share();
  const DataLoader loader(
      dataset, {.batch = kBatch, .shuffle = false, .rank = share.part, .world_size = share.parts},
      distributed_sampler);
  trainer.prepare_evaluation();
  Loss mine;
  ClassCounts counts(dataset.classes);
  for (std::int64_t i = 0; i < loader.size(); ++i) {
    const Loss batch = trainer.evaluate(loader.batch(i), counts);
    mine.sum += batch.sum;
    mine.correct += batch.correct;
    mine.counted += batch.counted;
  }
  Evaluation all;
  exact_metrics(dist, mine, all);
  counts.add_over_ranks(dist);
  all.f1 = counts.f1();
  return all;
}

}  // namespace rankbox::train
