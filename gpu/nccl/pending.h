// An operation on NCCL that was started and must be waited for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "comm/call_checks.h"
#include "comm/flight_recorder.h"

namespace rankbox::gpu {

class NcclPending;

/// A rank's requests that were not waited for. Outlives the rank if a request does.
struct NcclOpenRequests {
  std::vector<const NcclPending*> open;
  std::optional<UnreceivedMessage> dropped;  // the first that can no longer be waited for
};

/// What a request stands for, shared by its copies, all on one rank.
class NcclPending {
 public:
  /// @param peer a rank of the world; -1: none
  NcclPending(std::shared_ptr<NcclOpenRequests> requests, const Caller& caller, int peer);
  /// If it was not waited for, its rank fails in its next call, or at its end.
  ~NcclPending();
  NcclPending(const NcclPending&) = delete;
  NcclPending& operator=(const NcclPending&) = delete;

  const Caller& caller() const { return caller_; }
  /// As it was recorded.
  const FlightCall& flight() const { return flight_; }
  void set_flight(const FlightCall& flight) { flight_ = flight; }

  /// It is on a stream, with this launch (NcclLaunches).
  void set_launch(std::uint64_t launch) { launch_ = launch; }
  /// 0: it is not on a stream.
  std::uint64_t launch() const { return launch_; }
  /// It needs no wait: there is nothing to move, or the rank's stream() itself moves it.
  void set_done() { done_ = true; }
  bool is_done() const { return done_; }
  /// A wait for a barrier blocks the host, too.
  void set_barrier() { is_barrier_ = true; }
  bool is_barrier() const { return is_barrier_; }

  /// It was waited for.
  void close();
  bool is_closed() const { return requests_ == nullptr; }

  /// "request never waited for: …"
  UnreceivedMessage as_dropped() const;

 private:
  std::shared_ptr<NcclOpenRequests> requests_;
  Caller caller_;
  int peer_;
  FlightCall flight_;
  std::uint64_t launch_ = 0;
  bool done_ = false;
  bool is_barrier_ = false;
};

}  // namespace rankbox::gpu
