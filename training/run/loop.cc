#include "training/run/loop.h"

#include <cmath>

#include <fmt/format.h>

#include "parallel/distributed_sampler.h"
#include "training/run/learning_rate.h"
#include "training/run/stop_signal.h"

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

/// Without mixed precision, the optimizer has used such gradients.
void check_norm(std::optional<double> norm, const Position& position, const Plan& plan) {
  if (!norm || std::isfinite(*norm)) return;
  throw Error(fmt::format(
      "step {}: the norm of the gradients is {}; a smaller --learning-rate than {} may help",
      position.steps, *norm, plan.learning_rate));
}

double score_of(const Evaluation& test, BestBy by) {
  return by == BestBy::kF1 ? test.f1 : test.accuracy;
}

}  // namespace

std::vector<Batch> batches_of(std::int64_t step, const DataLoader& loader, const Plan& plan) {
  std::vector<Batch> batches;
  for (std::int64_t k = 0; k < plan.accumulate; ++k)
    batches.push_back(loader.batch(step * plan.accumulate + k));
  return batches;
}

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
  const std::int64_t steps = loader.size() / plan.accumulate;
  const auto save_to = [&](const Checkpointing& file) {
    trainer.gather();
    if (tells) file.save(trainer, position);
    trainer.release();
  };
  const auto save = [&] {
    if (!checkpoint.is_wanted()) return;
    save_to(checkpoint);
    if (tells && listener.on_save) listener.on_save(position);
  };
  const auto evaluate_now = [&] {
    const Evaluation test = evaluate(dist, trainer, data.test);
    const double score = score_of(test, plan.keep_best);
    const bool is_best = plan.keep_best != BestBy::kNothing && score > position.best;
    if (is_best) {
      position.best = score;
      position.best_steps = position.steps;
      save_to(checkpoint.best());
    }
    if (tells && listener.on_evaluation) listener.on_evaluation(position, test, is_best);
    return test;
  };

  while (position.epoch < plan.epochs) {
    loader.set_epoch(position.epoch);
    while (position.batch < steps) {
      trainer.optimizer().set_learning_rate(
          learning_rate_at(plan, position.steps, plan.epochs * steps));
      const Loss mine = trainer.step(batches_of(position.batch, loader, plan), position.steps);
      ++position.batch;
      ++position.steps;
      const Agreed all = agree(dist, mine);
      check_loss(all.batch, position, plan);
      const std::optional<double> gradient_norm = trainer.take_gradient_norm();
      check_norm(gradient_norm, position, plan);
      if (tells && listener.on_step) listener.on_step(position, steps, {all.batch, gradient_norm});
      if (plan.eval_every > 0 && position.steps % plan.eval_every == 0 && position.batch < steps)
        evaluate_now();
      if (all.stop) {
        save();
        return false;
      }
      if (plan.save_every > 0 && position.steps % plan.save_every == 0) save();
    }
    const Evaluation test = evaluate_now();
    ++position.epoch;
    position.batch = 0;
    if (tells && listener.on_epoch) listener.on_epoch(position, test);
    save();
  }
  return true;
}

}  // namespace rankbox::train
