// single: one rank, one model; the reference for all other strategies.
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/run/strategies/replica.h"

namespace rankbox::train {
namespace {

class Single : public Replica {
 public:
  using Replica::Replica;

  DataShare data_share() const override { return {}; }
  void start() override {}
  Loss step(std::vector<Batch> batches, std::int64_t number) override {
    return learn(std::move(batches), number, [](const std::vector<Parameter*>&) {});
  }
};

void check(const Plan& plan, std::int64_t /*samples*/) {
  if (plan.ranks == 1) return;
  throw InvalidArgument(fmt::format(
      "--ranks {}: single trains on one rank; leave it out, or choose --strategy ddp", plan.ranks));
}

std::unique_ptr<Trainer> make(Comm& dist, const Model& model, const Plan& plan) {
  return std::make_unique<Single>(dist, model, plan);
}

}  // namespace

const Strategy kSingle = {
    .name = "single",
    .summary = "one rank, one model",
    .check = check,
    .make = make,
    .uses = Replica::uses,
};

}  // namespace rankbox::train
