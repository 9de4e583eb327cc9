// What a run throws when ranks failed: the first failure, or what the ranks' recent calls say of
// it.
//
// A rank that hangs knows its own call alone. So every rank brings its log to the end of a run that
// failed, and the logs are compared (comm/post_mortem.h): calls that do not match explain the hang
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
  bool lost_peers = false;  // failure: an error of NCCL, which may be another rank's doing
  FlightLog log = {};
};

/// For the processes of a run, each of which has one rank's.
std::string rank_end_to_bytes(const RankEnd& end);
RankEnd rank_end_from_bytes(std::string_view bytes);

/// What the run throws; null if all ranks returned. A rank's own failure, an exception of its
/// function for one, as it is. Where ranks gave up waiting, what the comparison of the logs finds:
/// MessageMismatch, CollectiveMismatch or TimedOut, each with the last operations of every rank and
/// the sandbox's command that explains it.
/// @param ends in any order; some may be missing
/// @param first the failure that came first, where that is known
/// @param missing that a process did not bring its end: it explains more than ranks that gave up
std::exception_ptr failure_of(const std::vector<RankEnd>& ends, int world_size,
                              std::exception_ptr first = nullptr,
                              const std::exception_ptr& missing = nullptr);

}  // namespace rankbox::gpu
