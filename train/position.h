// The progress of training: always a step boundary.
#pragma once

#include <cstdint>

namespace rankbox::train {

struct Position {
  std::int64_t epoch = 0;  // the current one, from 0
  std::int64_t batch = 0;  // completed batches of it
  std::int64_t steps = 0;  // completed since the start
  bool operator==(const Position&) const = default;
};

}  // namespace rankbox::train
