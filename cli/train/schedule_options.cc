#include "cli/train/schedule_options.h"

#include <array>
#include <cmath>
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/support/options.h"
#include "comm/errors.h"

namespace rankbox::train {
namespace {

constexpr std::int64_t kMostSteps = std::numeric_limits<std::int64_t>::max();

}  // namespace

double parse_number(const char* option, const std::string& text, const char* range,
                    bool (*fits)(double)) {
  double number = 0;
  if (!CLI::detail::lexical_cast(text, number) || !std::isfinite(number) || !fits(number))
    throw InvalidArgument(fmt::format("{} {}: give a number {}", option, text, range));
  return number;
}

void add_optimizer(CLI::App& app, ScheduleArguments& typed, Plan& plan) {
  app.add_option("--optimizer", typed.optimizer, "sgd or adam (default: the model's)");
  app.add_option("--learning-rate", typed.learning_rate,
                 "the highest, between warm-up and decay (default: the model's)")
      ->type_name("NUMBER");
  app.add_option("--momentum", typed.momentum, "of sgd, 0 for none (default: 0.9)")
      ->type_name("NUMBER");
  app.add_option(
         "--weight-decay", typed.weight_decay,
         "in sgd weight-decay times the weights is added to the gradient (L2); in adam they "
         "shrink by rate times weight-decay in each step (AdamW)")
      ->type_name("NUMBER")
      ->capture_default_str();
  app.add_option("--clip-norm", typed.clip_norm,
                 "scale a step's gradients down if the norm of all of them is larger, by "
                 "clip_global_norm (default: never)")
      ->type_name("NUMBER");
  app.add_option("--warmup-steps", plan.warmup_steps,
                 "steps in which the rate grows in equal parts, to all of it")
      ->check(cli::whole_number(0, kMostSteps))
      ->capture_default_str();
  app.add_option("--decay", typed.decay,
                 "of the rate from there to the last step: constant, linear or cosine, to 0")
      ->capture_default_str();
}

void add_evaluation(CLI::App& app, ScheduleArguments& typed, Plan& plan) {
  app.add_option("--eval-every", plan.eval_every,
                 "steps between evaluations, in addition to those after epochs")
      ->check(cli::whole_number(1, kMostSteps));
  app.add_option_function<std::string>(
         "--keep-best",
         [&typed](const std::string& by) {
           typed.keep_best = by.empty() ? name_of(BestBy::kAccuracy) : by;
         },
         "keep the model that does best on the test samples, by accuracy (if nothing follows) or "
         "f1, in FILE.best beside --save FILE; load it at the end")
      ->expected(0, 1);
}

void complete(const ScheduleArguments& typed, OptimizerKind kind,
              double (*rate_of)(const Plan& plan), Plan& plan) {
  plan.optimizer = typed.optimizer.empty()
                       ? kind
                       : parse_choice("optimizer", "optimizer", typed.optimizer,
                                      std::array{OptimizerKind::kSgd, OptimizerKind::kAdam});
  plan.learning_rate = typed.learning_rate.empty()
                           ? rate_of(plan)
                           : parse_number("--learning-rate", typed.learning_rate,
                                          "above 0, like 0.05", [](double x) { return x > 0; });
  if (!typed.momentum.empty()) {
    if (plan.optimizer != OptimizerKind::kSgd) {
      throw InvalidArgument(
          fmt::format("--momentum {}: adam has its own; leave it out, or choose --optimizer sgd",
                      typed.momentum));
    }
    plan.momentum = parse_number("--momentum", typed.momentum, "from 0 to below 1, like 0.9",
                                 [](double x) { return x >= 0 && x < 1; });
  }
  plan.weight_decay = parse_number("--weight-decay", typed.weight_decay, "from 0, like 0.01",
                                   [](double x) { return x >= 0; });
  if (!typed.clip_norm.empty()) {
    plan.clip_norm = parse_number("--clip-norm", typed.clip_norm, "from 1e-6 to 1e30, like 1",
                                  [](double x) { return x >= 1e-6 && x <= 1e30; });
  }
  plan.decay = parse_choice("decay", "decay", typed.decay, kDecays);
  if (typed.keep_best.empty()) return;
  plan.keep_best = parse_choice("keep-best", "score", typed.keep_best,
                                std::array{BestBy::kAccuracy, BestBy::kF1});
  if (plan.save.empty())
    throw InvalidArgument("--keep-best: no file to keep it beside; give --save FILE, too");
}

}  // namespace rankbox::train
