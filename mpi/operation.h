// An operation in flight: one end of a message, or a native collective.
#pragma once

#include <cstdint>
#include <string>

#include <mpi.h>

#include "comm/call_checks.h"
#include "comm/flight_recorder.h"
#include "comm/slice.h"
#include "mpi/group.h"
#include "mpi/native.h"
#include "mpi/tag.h"

namespace rankbox::mpi {

/// It must not move between its start and its end.
struct Operation {
  Caller caller;
  Group* group = nullptr;
  FlightCall call;           // what others must agree on
  std::uint64_t flight = 0;  // in the rank's recorder
  Slice slice;               // of a message
  int peer = -1;             // of a message, in the group
  NativeCall native;         // of a collective
  bool done = false;
  bool is_too_long = false;  // the message was longer than the slice
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};

  bool is_recv() const { return call.kind == FlightKind::kRecv; }
};

/// Starts the message that its call, group, slice and peer describe. A send is done when the
/// receiver has begun to receive it (MPI_Issend).
void start_message(Operation& message, const TagFormat& tags);

/// Returns whether it is done; a collective's result is then in place. Throws MpiError.
bool test(Operation& operation);

/// Returns the message that arrived instead of a receive's expected one, as "3 float32 (12 bytes)".
/// Returns "" if there is none, or if the operation is not a receive.
std::string mismatched_message(const Operation& message, const TagFormat& tags);

}  // namespace rankbox::mpi
