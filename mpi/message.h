// One end of a message under way.
#pragma once

#include <cstdint>
#include <string>

#include <mpi.h>

#include "comm/call_checks.h"
#include "comm/slice.h"
#include "mpi/group.h"
#include "mpi/tag.h"

namespace rankbox::mpi {

struct Message {
  Caller caller;
  Group* group = nullptr;
  Slice slice;
  int peer = -1;  // index in the group
  std::uint32_t number = 0;
  bool sends = false;
  bool done = true;
  bool too_long = false;  // what came did not fit the slice
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};

  int world_peer() const { return group->world_rank(peer); }
  Wait wait() const;
  /// "rank 0 sends 3 float32 (12 bytes) to rank 1 at ring.cc:12"
  std::string in_words() const;
};

/// Starts one, as `sends` says, which nobody may move until it is done. The send is a rendezvous: done when the
/// receiver has begun to receive, which is MPI_Ssend.
void start_send(Message& message, const TagFormat& tags);
void start_recv(Message& message, const TagFormat& tags);

/// Whether it is done. Throws MpiError.
bool test(Message& message);

/// Of a receive that is not done: whether what has come in its place does not fit it, or, once it is
/// done, what has come did not. If so, `other` says what it was: "3 float32 (12 bytes)".
bool finds_mismatch(const Message& message, const TagFormat& tags, std::string& other);

/// Takes a receive back, or lets it end if it is too late for that. Nothing writes to its slice
/// afterwards, unless it returns false: what was begun is not done within so many seconds.
bool cancel_recv(Message& message, double seconds);

}  // namespace rankbox::mpi
