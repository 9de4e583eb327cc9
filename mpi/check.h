// Every call of the MPI library is checked: what failed, what it said, and whose it was.
#pragma once

#include <string>

#include <mpi.h>

#include "comm/call_checks.h"
#include "comm/errors.h"

namespace rankbox::mpi {

/// The MPI library refused a call.
class MpiError : public Error {
  using Error::Error;
};

/// "MPI_ERR_TRUNCATE: message truncated": the library's own words for an error code.
std::string words_of(int code);

/// Throws MpiError unless code is MPI_SUCCESS. @param call its text, to be shown
void check(int code, const char* call);

/// The same for a call of a rank: rank, operation, peer, bytes and place are named.
void check(int code, const char* call, const Caller& caller, int peer, std::int64_t bytes);

}  // namespace rankbox::mpi
