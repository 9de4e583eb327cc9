// The learning rate of every step: warm-up, then decay.
//
// With η the plan's rate, N = warmup_steps and T steps in the whole run, step t = 0, 1, … T - 1 has
//
//   t < N      η (t + 1) / N                      the first step moves, the last has all of η
//   constant   η
//   linear     η (T - t) / (T - N)                1 … 1 / (T - N) times η
//   cosine     η (1 + cos(π (t - N) / (T - N))) / 2
//
// It depends on nothing else, so a resumed run goes on exactly, if its T is the same: T is
// the number of epochs times the steps of one.
#pragma once

#include <cstdint>

#include "training/run/plan.h"

namespace rankbox::train {

/// @param step from 0, of the optimizer
/// @param steps of the whole run
double learning_rate_at(const Plan& plan, std::int64_t step, std::int64_t steps);

}  // namespace rankbox::train
