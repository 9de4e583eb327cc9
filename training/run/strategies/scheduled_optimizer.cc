#include "training/run/strategies/scheduled_optimizer.h"

#include "training/adam.h"
#include "training/sgd.h"

namespace rankbox::train {
namespace {

/// @tparam Kind Sgd or Adam
template <class Kind>
class Scheduled : public ScheduledOptimizer {
 public:
  template <class Options>
  Scheduled(const std::vector<Parameter*>& parameters, const Options& options)
      : optimizer_(parameters, options) {}

  void step() override { optimizer_.step(); }
  std::vector<NamedTensor*> state() override { return optimizer_.state(); }
  void set_learning_rate(double rate) override { optimizer_.options.learning_rate = rate; }

 private:
  Kind optimizer_;
};

}  // namespace

std::unique_ptr<ScheduledOptimizer> make_optimizer(const Plan& plan,
                                                   const std::vector<Parameter*>& parameters) {
  if (plan.optimizer == OptimizerKind::kAdam) {
    return std::make_unique<Scheduled<Adam>>(
        parameters,
        AdamOptions{.learning_rate = plan.learning_rate, .weight_decay = plan.weight_decay});
  }
  return std::make_unique<Scheduled<Sgd>>(parameters,
                                          SgdOptions{.learning_rate = plan.learning_rate,
                                                     .momentum = plan.momentum,
                                                     .weight_decay = plan.weight_decay});
}

}  // namespace rankbox::train
