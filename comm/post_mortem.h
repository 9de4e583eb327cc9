// The cause of a failed run, derived from the ranks' flight logs.
//
// Two calls that contradict each other are certain, so they come first. They are the n-th
// collective of a communicator, if two ranks called it differently, or the n-th message between two
// ranks, if its ends disagree. Without such a mismatch the report names one call that has not
// finished. last_operations() shows what the other ranks did meanwhile.
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
    kStuck,               // context: a call that has not finished
  };

  Kind kind = Kind::kUnknown;
  std::string text;  // one line: ranks, values and places; empty for kUnknown
  ErrorContext context{};

  bool is_mismatch() const {
    return kind == Kind::kMessageMismatch || kind == Kind::kCollectiveMismatch;
  }
};

/// Compares the logs of all ranks, in any order. Logs may be missing.
PostMortem post_mortem(std::span<const FlightLog> logs);

/// Returns MessageMismatch, CollectiveMismatch or, for all else, TimedOut.
/// @param details lines to append to the text
std::exception_ptr error_of(const PostMortem& found, const std::string& details);

/// Returns each rank's last operations, by rank; names a rank without a log.
/// @param world_size the number of expected logs
std::string last_operations(std::span<const FlightLog> logs, int world_size);

/// Returns a line with the command that reproduces and proves the failure.
std::string sandbox_hint(int world_size);

}  // namespace rankbox
