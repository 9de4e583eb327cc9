// The options of the optimizer, its rate, and of what is evaluated and kept.
#pragma once

#include <string>

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/run/plan.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::train {

/// The arguments as typed; empty if not given.
struct ScheduleArguments {
  std::string optimizer;
  std::string learning_rate;
  std::string momentum;
  std::string weight_decay = "0";
  std::string clip_norm;
  std::string decay = name_of(Decay::kConstant);
  std::string keep_best;
};

/// Returns the number. Throws InvalidArgument unless it is one and fits the range.
double parse_number(const char* option, const std::string& text, const char* range,
                    bool (*fits)(double));

/// Returns the one of the choices that has this name. Throws InvalidArgument, which lists them.
/// @param option without its dashes
/// @param what the choices are: "decay"
template <class Choices>
auto parse_choice(const char* option, const char* what, const std::string& text,
                  const Choices& choices) {
  std::string names;
  for (const auto choice : choices) {
    if (text == name_of(choice)) return choice;
    names += (names.empty() ? "" : ", ") + std::string(name_of(choice));
  }
  throw InvalidArgument(
      fmt::format("--{} {}: unknown {}, choose one of {}", option, text, what, names));
}

void add_optimizer(CLI::App& app, ScheduleArguments& typed, Plan& plan);
void add_evaluation(CLI::App& app, ScheduleArguments& typed, Plan& plan);

/// Completes the plan. Throws InvalidArgument, in one line, for invalid values.
/// @param kind the optimizer if none was given
/// @param rate_of the learning rate if none was given
void complete(const ScheduleArguments& typed, OptimizerKind kind,
              double (*rate_of)(const Plan& plan), Plan& plan);

}  // namespace rankbox::train
