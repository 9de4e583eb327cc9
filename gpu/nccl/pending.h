// A started operation on NCCL that must be waited for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "comm/call_checks.h"
#include "comm/flight_recorder.h"

namespace rankbox::gpu {

class NcclPending;
class RankDevice;

/// A rank's requests that were not waited for. Outlives the rank if a request does.
struct NcclOpenRequests {
  std::vector<const NcclPending*> open;
  std::optional<UnreceivedMessage> dropped;  // the first that was destroyed unwaited
  RankDevice* device = nullptr;              // until the rank ends
};

/// The state of a request, shared by its copies, all on one rank.
class NcclPending {
 public:
  /// @param peer a rank of the world; -1: none
  NcclPending(std::shared_ptr<NcclOpenRequests> requests, const Caller& caller, int peer);
  /// If the request was not waited for, its rank fails in its next call, or at its end.
  ~NcclPending();
  NcclPending(const NcclPending&) = delete;
  NcclPending& operator=(const NcclPending&) = delete;

  const Caller& caller() const { return caller_; }
  /// The call as recorded.
  const FlightCall& flight() const { return flight_; }
  void set_flight(const FlightCall& flight) { flight_ = flight; }

  /// Marks the operation as enqueued on a stream, by this launch (NcclLaunches).
  void set_launch(std::uint64_t launch) { launch_ = launch; }
  /// Returns 0 if it is not on a stream.
  std::uint64_t launch() const { return launch_; }
  /// Marks it as needing no wait: there is nothing to move, or the rank's stream() itself moves it.
  void set_done() { done_ = true; }
  bool is_done() const { return done_; }
  /// Makes a wait for it, a barrier, block the host too.
  void set_barrier() { is_barrier_ = true; }
  bool is_barrier() const { return is_barrier_; }

  /// Marks it as waited for.
  void close();
  bool is_closed() const { return requests_ == nullptr; }

  /// Returns the error "request never waited for: …".
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
