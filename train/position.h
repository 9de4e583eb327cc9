// How far training has come: always a step boundary.
#pragma once

#include <cstdint>

namespace rankbox::train {

struct Position {
  std::int64_t epoch = 0;  // that is going on, from 0
  std::int64_t batch = 0;  // of it that are done
  std::int64_t steps = 0;  // done since the very beginning
  bool operator==(const Position&) const = default;
};

}  // namespace rankbox::train
