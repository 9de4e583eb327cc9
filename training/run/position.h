// The progress of training: always a step boundary.
#pragma once

#include <cstdint>

namespace rankbox::train {

struct Position {
  std::int64_t epoch = 0;       // the current one, from 0
  std::int64_t batch = 0;       // completed steps of it
  std::int64_t steps = 0;       // completed since the start
  double best = -1;             // --keep-best: the highest score so far; -1: none
  std::int64_t best_steps = 0;  // completed when it was reached
  bool operator==(const Position&) const = default;
};

}  // namespace rankbox::train
