// Errors as bytes, to send them between processes. A rank's error is thrown in every process of the
// world, as the same class, with the same message and context.
//
// Nested exceptions are not sent: their text is already part of the message. A class derived from
// one of comm/errors.h arrives as that base class; any other exception arrives as RankFailed.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <tuple>

#include "comm/errors.h"

namespace rankbox {

/// REQUIRES: `error` is not null.
std::string error_to_bytes(const std::exception_ptr& error);

/// Throws std::runtime_error for bytes that are not an error, or are truncated.
std::exception_ptr error_from_bytes(std::string_view bytes);

// For comm/result_bytes.h.
inline auto fields_of(ErrorContext& context) {
  return std::tie(context.rank, context.op, context.peer, context.file, context.line);
}
inline auto fields_of(Wait& wait) {
  return std::tie(wait.rank, wait.op, wait.peers, wait.bytes, wait.file, wait.line);
}

}  // namespace rankbox
