// Checked MPI calls: an error names the call, MPI's message, and the rank's call.
#pragma once

#include <mpi.h>

#include "comm/call_checks.h"
#include "comm/errors.h"

namespace rankbox::mpi {

/// The MPI library refused a call.
class MpiError : public Error {
  using Error::Error;
};

/// Throws MpiError unless code is MPI_SUCCESS.
/// @param call its text, for the message
/// @param caller the rank's call; null: none
/// @param peer the message's peer, in the world
void check(int code, const char* call, const Caller* caller = nullptr, int peer = -1);

}  // namespace rankbox::mpi
