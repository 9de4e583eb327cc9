// The exception of a failed run: the first failure, or the result of comparing the ranks' calls.
//
// A rank that hangs knows only its own call. So at the end of a failed run every rank contributes
// its log, and the logs are compared (comm/post_mortem.h). Calls that do not match explain the hang
// better than the rank whose deadline passed first.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "comm/flight_recorder.h"

namespace rankbox::gpu {

/// How a rank's function ended.
struct RankEnd {
  int rank = -1;
  std::exception_ptr failure = nullptr;  // null: it returned
  bool lost_peers = false;  // failure is an NCCL error, possibly caused by another rank
  FlightLog log = {};
};

/// Serializes an end for the other processes of a run, which have one rank each.
std::string rank_end_to_bytes(const RankEnd& end);
RankEnd rank_end_from_bytes(std::string_view bytes);

/// Returns the run's exception; null if all ranks returned. A rank's own failure, such as an
/// exception of its function, stays as it is. If ranks timed out, the logs are compared: the result
/// is MessageMismatch, CollectiveMismatch or TimedOut. It includes the last operations of every
/// rank and the sandbox command that explains it.
/// @param ends in any order; some may be missing
/// @param first the first failure, if known
/// @param missing the failure of a process that sent no end: it explains more than timeouts
std::exception_ptr failure_of(const std::vector<RankEnd>& ends, int world_size,
                              std::exception_ptr first = nullptr,
                              const std::exception_ptr& missing = nullptr);

}  // namespace rankbox::gpu
