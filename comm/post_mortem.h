// Why a run failed, as the ranks' flight logs show it.
//
// Two calls that contradict each other are certain, so they come first: the n-th collective of a
// communicator that two ranks called differently, or the n-th message between two ranks whose ends
// disagree. What hangs because of such a mismatch is not named. Without one, the cause is a rank
// that waits for a call which another rank has not made.
//
// The sandbox proves what is inferred here: see sandbox_hint().
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <string>

#include "comm/errors.h"
#include "comm/flight_recorder.h"

namespace rankbox {

struct PostMortem {
  enum class Kind : std::uint8_t {
    kUnknown,             // the logs show no cause
    kMessageMismatch,     // context: the receiver's call
    kCollectiveMismatch,  // context: the call of the lower rank
    kStuck,               // context: the call that waits
  };

  Kind kind = Kind::kUnknown;
  std::string text;  // one line: ranks, values and places; empty for kUnknown
  ErrorContext context{};

  bool is_mismatch() const {
    return kind == Kind::kMessageMismatch || kind == Kind::kCollectiveMismatch;
  }
};

/// Compares the logs of all ranks, in any order. Logs may be missing.
/// @param world_size ranks whose logs there should be
PostMortem post_mortem(std::span<const FlightLog> logs, int world_size);

/// MessageMismatch, CollectiveMismatch or, for all else, TimedOut.
/// @param details lines to append to the text
std::exception_ptr error_of(const PostMortem& found, const std::string& details);

/// What each rank did last, by rank; a rank without a log is named.
std::string last_operations(std::span<const FlightLog> logs, int world_size);

/// The line that says which command reproduces and proves the failure.
std::string sandbox_hint(int world_size);

}  // namespace rankbox
