#include "train/loop.h"

#include <cmath>

#include <fmt/format.h>

#include "parallel/distributed_sampler.h"
#include "train/evaluate.h"
#include "train/stop_signal.h"
#include "training/data/data_loader.h"

namespace rankbox::train {
namespace {

struct Agreed {
  Metrics batch;
  bool stop = false;
};

/// Returns the sums over all ranks, and whether any of them received a stop signal.
Agreed agree(Comm& dist, const Loss& mine) {
  auto sums =
      from_host({mine.sum, static_cast<double>(mine.correct), static_cast<double>(mine.counted),
                 StopSignal::received() != 0 ? 1.0 : 0.0});
  dist.all_reduce(sums, ReduceOp::SUM);
  const std::vector<double> all = to_host(sums);
  return {{all[0] / all[2], all[1] / all[2], static_cast<std::int64_t>(all[2])}, all[3] > 0};
}

void check_loss(const Metrics& batch, const Position& position, const Plan& plan) {
  if (std::isfinite(batch.loss)) return;
  throw Error(fmt::format("step {}: the loss is {}; a smaller --learning-rate than {} may help",
                          position.steps, batch.loss, plan.learning_rate));
}

}  // namespace

bool run_loop(Comm& dist, Trainer& trainer, const Plan& plan, const Split& data,
              const Checkpointing& checkpoint, const Listener& listener, Position& position) {
  const DataShare share = trainer.data_share();
  DataLoader loader(data.train,
                    {.batch = plan.batch / share.parts,
                     .drop_last = true,
                     .seed = plan.seed,
                     .rank = share.part,
                     .world_size = share.parts},
                    distributed_sampler);
  const bool tells = dist.rank() == 0;
  const auto save = [&] {
    if (!checkpoint.is_wanted()) return;
    trainer.gather();
    if (tells) checkpoint.save(trainer, position);
    trainer.release();
    if (tells && listener.on_save) listener.on_save(position);
  };

  while (position.epoch < plan.epochs) {
    loader.set_epoch(position.epoch);
    while (position.batch < loader.size()) {
      const Loss mine = trainer.step(loader.batch(position.batch), position.steps);
      ++position.batch;
      ++position.steps;
      const Agreed all = agree(dist, mine);
      check_loss(all.batch, position, plan);
      if (tells && listener.on_step) listener.on_step(position, loader.size(), all.batch);
      if (all.stop) {
        save();
        return false;
      }
      if (plan.save_every > 0 && position.steps % plan.save_every == 0) save();
    }
    const Metrics test = evaluate(dist, trainer, data.test);
    ++position.epoch;
    position.batch = 0;
    if (tells && listener.on_epoch) listener.on_epoch(position, test);
    save();
  }
  return true;
}

}  // namespace rankbox::train
