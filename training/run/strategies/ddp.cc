// ddp: every rank has the whole model and takes an equal share of each batch.
//
// Gradients are averaged, so that all ranks take the same step and stay equal. Parameters equal
// those of `single` on the same global batch up to rounding: the mean over equal shares of their
// means is the mean over the batch. Batch norm is the exception, as usual: each rank normalizes
// with its own share, and the running statistics are rank 0's.
//
// Gradients are sent one by one after the last backward, or in buckets (Plan::bucket_mib), or in
// buckets during backward (Plan::overlap).
#include <utility>

#include "parallel/ddp_average_gradients.h"
#include "parallel/ddp_buckets.h"
#include "parallel/ddp_init_broadcast.h"
#include "training/run/strategies/equal_shares.h"
#include "training/run/strategies/replica.h"

namespace rankbox::train {
namespace {

class Ddp : public Replica {
 public:
  Ddp(Comm& dist, const Model& model, const Plan& plan) : Replica(dist, model, plan), plan_(plan) {}

  DataShare data_share() const override { return {rank_, ranks_}; }
  void start() override {
    ddp_init_broadcast(dist(), parameters(), statistics());
    // Rank 0 may have loaded a checkpoint, which includes this.
    for (NamedTensor* tensor : learning_state()) dist().broadcast(tensor->value, 0);
  }
  Loss step(std::vector<Batch> batches, std::int64_t number) override {
    if (plan_.overlap)
      return learn_overlapped(std::move(batches.front()), number, plan_.bucket_bytes());
    return learn(std::move(batches), number, [this](const std::vector<Parameter*>& parameters) {
      if (plan_.bucket_mib > 0)
        ddp_buckets(dist(), parameters, plan_.bucket_bytes());
      else if (averages_natively())
        ddp_average_gradients(dist(), parameters);
      else
        average(parameters);
    });
  }
  void prepare_evaluation() override { ddp_init_broadcast(dist(), {}, statistics()); }

 private:
  const Plan& plan_;
  int rank_ = dist().rank();
  int ranks_ = dist().world_size();
};

std::unique_ptr<Trainer> make(Comm& dist, const Model& model, const Plan& plan) {
  return std::make_unique<Ddp>(dist, model, plan);
}

std::vector<std::string> uses(const Plan& plan) {
  std::vector<std::string> all = Replica::uses(plan);
  if (plan.overlap)
    all.emplace_back("ddp_overlap");
  else if (plan.bucket_mib > 0)
    all.emplace_back("ddp_buckets");
  else if (plan.precision != Precision::kMixed && plan.all_reduce == "native")
    all.emplace_back("ddp_average_gradients");
  all.emplace_back("ddp_init_broadcast");
  return all;
}

}  // namespace

const Strategy kDdp = {
    .name = "ddp",
    .summary = "one model per rank, an equal share of each batch, gradients averaged",
    .check = check_equal_shares,
    .make = make,
    .uses = uses,
    .all_reduces = true,
    .has_buckets = true,
};

}  // namespace rankbox::train
