// Every call of the MPI library is checked: what failed, what MPI says, and whose call it was.
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
/// @param call its text, to be shown
/// @param caller the rank's call; null: it is not part of one
/// @param peer of a message, in the world
void check(int code, const char* call, const Caller* caller = nullptr, int peer = -1);

}  // namespace rankbox::mpi
