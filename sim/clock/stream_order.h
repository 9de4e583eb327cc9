// Hangs of a program in the order of NCCL, where a rank's messages share one stream.
//
// The sandbox and MPI carry out started messages independently of each other. NCCL carries out
// those of a rank in order: a message starts when the one that was started before it is done. Two
// ranks that both start a receive and then a send hang there: each send is queued behind a receive
// that waits for the other rank's send. Messages of one group start together (ncclGroupStart,
// torch's batch_isend_irecv). Here a group is the two halves of a sendrecv, or what call_groups.h
// makes one of.
//
// A rank hands its messages to its stream, in the order of their calls, when it next blocks. Empty
// messages, and those to the rank itself, are not among them. Native collectives are on another
// stream, as in gpu/nccl/backend.h. What a message matches depends on no schedule (comm/trace.h).
// So the trace of a run that ended decides whether any run ends in this order, too.
//
// Cost: O(E) for E events. To name a circle of k ranks takes O(kE) more.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/errors.h"
#include "comm/trace.h"

namespace rankbox {

/// A message as its call says it: "isend to 1 at ring.cc:9".
struct StreamCall {
  const char* name = "";
  int peer = -1;  // -1: a collective
  Place place{};
};

/// A rank of the circle, and what its stream, or its call, waits for.
struct StreamWait {
  int rank = -1;
  std::optional<StreamCall> queued;  // the message that the rank before this one waits for
  StreamCall ahead;                  // what has to end first; it waits for the next rank
};

struct StreamHang {
  bool needs_full_buffers = false;  // sends that fit into NCCL's buffers would prevent it
  std::vector<StreamWait> circle;   // begins at its lowest rank
};

/// Returns why the program of this trace hangs in the order of one stream a rank. Nothing if it
/// ends, or if it starts no messages. If a send of the trace was buffered, so is every send here.
/// REQUIRES: the trace is whole, and its run ended without a failure.
std::optional<StreamHang> find_stream_hang(const Trace& trace);

/// Returns the circle in at most six lines, and what to do.
std::string in_words(const StreamHang& hang);

/// Returns the same as an error, at the first message that is queued.
DeadlockError error_of(const StreamHang& hang);

}  // namespace rankbox
