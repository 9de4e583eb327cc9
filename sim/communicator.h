// Comm in the sandbox: the implementation of each call on a rank's thread.
//
// The contract is in comm/communicator.h.
#pragma once

#include <memory>

#include "comm/communicator.h"

namespace rankbox::sim {

class Channel;
class Group;
class PendingOperation;
struct RankState;

/// A rank's handle on a communicator: the primitives of BasicCommunicator.
class Backend {
 public:
  /// Copies refer to the same operation. If the last one is destroyed while the operation is
  /// unfinished, it cancels the operation and fails the rank with UnreceivedMessage.
  using Pending = std::shared_ptr<PendingOperation>;

  Backend(RankState& rank, Group& group, int index)
      : state_(&rank), group_(&group), index_(index) {}

  int rank() const { return index_; }
  int size() const;
  int node() const;
  int local_rank() const;

  Caller caller(const char* operation, Place place) const;
  /// Pauses at random, if RunOptions::seed asks for it; reserves space for the call in the trace.
  void begin(const Caller& caller);

  void send(const Caller& caller, Slice slice, int dst);
  void recv(const Caller& caller, Slice slice, int src);
  void sendrecv(const Caller& caller, Slice out, int dst, Slice in, int src);
  Pending isend(const Caller& caller, Slice slice, int dst);
  Pending irecv(const Caller& caller, Slice slice, int src);

  void run(const Caller& caller, const CollectiveCall& call);
  Pending start(const Caller& caller, const CollectiveCall& call);
  Backend split(const Caller& caller, const CollectiveCall& call);

  void wait(const Caller& caller, const Pending& pending);
  static const Caller* starter(const Pending& pending);

  void compute(const Caller& caller, double seconds, Label label);
  void synchronize(const Caller& /*caller*/) {}

  /// The next wait belongs to the same wait_all as the one before. For a referee, which carries out
  /// one at a time (judge/seal/).
  void continue_wait_all() const;

  /// Sets whether this rank's calls are part of the trace, if the run has one (comm/unrecorded.h).
  void set_recording(bool on) const;

 private:
  /// The mailbox that a call used last. Most programs send to the same rank again, and with many
  /// ranks every step on the way to a mailbox is a cache miss.
  struct Recent {
    int peer = -1;
    Channel* channel = nullptr;
  };
  Channel& channel_to(int dst);
  Channel& channel_from(int src);

  RankState* state_;
  Group* group_;  // null: this rank is in no group (split with a negative color)
  int index_;     // this rank within the group
  Recent to_;
  Recent from_;
};

using Communicator = BasicCommunicator<Backend>;

}  // namespace rankbox::sim

extern template class rankbox::BasicCommunicator<rankbox::sim::Backend>;
