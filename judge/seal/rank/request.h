// The rank process's side of its socket.
#pragma once

#include <string>

#include "comm/result_bytes.h"
#include "judge/seal/wire.h"

namespace rankbox::seal {

/// Sets the socket to the referee, before any request.
void set_socket(int socket);

/// Returns the bytes of the reply, or throws the error with which the request was refused. Blocks
/// until the referee has carried out the call. The process ends if the referee has ended.
std::string request(Kind kind, const ByteWriter& arguments);

/// Sets whether the referee counts this process's memory in the call that begins.
void set_counts_memory(bool counts);

/// Has the referee count this process's memory, if it does in this call. Comes before a request is
/// written, whose bytes are not the function's.
void count_memory();

/// Has a message sent that has no reply: with the next request, or once there are many. An error of
/// the referee's is that of the next request; also of a call of this function that sends.
void notify(Kind kind, const ByteWriter& arguments);

/// Sends all messages, and this one, the last of a call.
void finish(Kind kind, const std::string& bytes);

/// Blocks until the referee calls; returns the arguments.
std::string next_call();

}  // namespace rankbox::seal
