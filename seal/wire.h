// Messages between the referee and a rank process, over one stream socket for each rank.
//
// The referee never trusts what it reads: it checks sizes and numbers, and a message that does not
// parse fails the rank. Either side may end at any time.
//
// Thread safety: one thread at a time per socket.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace rankbox::seal {

enum class Kind : std::uint32_t {
  // From the referee.
  kCall,     // a function's arguments: call it
  kReply,    // the result of a request
  kRefused,  // the error of a request, as in comm/error_bytes.h
  // Requests of a rank process: the calls of Comm, and accumulate().
  kSend,
  kRecv,
  kSendrecv,
  kIsend,
  kIrecv,
  kWait,
  kDrop,  // a Request that was not waited for; has no reply
  kCollective,
  kStart,  // of an asynchronous collective
  kSplit,
  kCompute,
  kAccumulate,
  // Requests that use the referee's objects, which a function got as arguments.
  kForward,
  kBackward,
  kStep,
  kTurn,
  kSave,
  kLoad,
  // The end of a call.
  kReturned,
  kThrew,
};

struct Message {
  Kind kind = Kind::kReply;
  std::string bytes;
};

/// The longest message in bytes.
inline constexpr std::uint32_t kMostBytes = 64U << 20;

/// The other side has ended, or sent what is no message.
class ConnectionLost : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Blocks until the other side has room. Throws ConnectionLost, also for a message that is too
/// long.
void send_message(int socket, Kind kind, const std::string& bytes);

/// Blocks until a message is there. Throws ConnectionLost.
Message receive_message(int socket);

}  // namespace rankbox::seal
