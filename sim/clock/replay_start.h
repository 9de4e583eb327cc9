// A rank's state where the replay of its remaining events begins.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace rankbox {

/// No operation is in flight but those of the first event and, in a sendrecv, of the second.
template <class Time>
struct ReplayStart {
  Time now{};
  std::size_t first_event = 0;  // the number of events that were replayed before
  // When the operations of the first and the second event ended; none: not executed yet.
  std::array<std::optional<Time>, 2> ended;
};

}  // namespace rankbox
