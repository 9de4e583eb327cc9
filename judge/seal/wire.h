// Messages between the referee and a rank process, over one stream socket for each rank.
//
// The referee never trusts what it reads: it checks sizes and numbers, and a message that does not
// parse fails the rank. Either side may end at any time.
//
// Thread safety: one thread at a time per connection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace rankbox::seal {

enum class Kind : std::uint32_t {
  // From the referee.
  kCall,     // a function's arguments: call it
  kReply,    // the result of a request
  kRefused,  // the error of a request, as in comm/error_bytes.h
  // Calls of Comm that need no answer, and accumulate(): without reply, so that a process need not
  // wait. The process numbers the Requests that it starts.
  kSend,
  kIsend,
  kIrecv,
  kStart,  // of an asynchronous collective
  kDrop,   // a Request that was not waited for
  kCompute,
  kAccumulate,
  kStoreShared,  // of a SharedValue
  kDropPass,     // what a layer's forward saved, and no backward has used
  // Requests of a rank process: the other calls of Comm.
  kRecv,
  kSendrecv,
  kWait,
  kCollective,
  kSplit,
  kSync,  // does nothing; refused if something before it failed
  // Requests that use the referee's objects, which a function got as arguments.
  kForward,
  kBackward,
  kWeights,  // that a backward of a stage has postponed
  kStep,
  kTurn,
  kSave,
  kLoad,
  kLoadShared,
  kMemory,  // what comes next may be long: count this process's memory now
  // The end of a call.
  kReturned,
  kThrew,
  // Without reply, and from a signal handler perhaps: a line of judge/stop_report.h.
  kStopped,
};

/// The front of a message.
struct Head {
  Kind kind;
  std::uint32_t bytes;
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

class Connection {
 public:
  /// The descriptor of the socket stays the caller's.
  explicit Connection(int socket) : socket_(socket) {}

  /// Adds a message to those that send() sends. Throws ConnectionLost for one that is too long.
  void add(Kind kind, const std::string& bytes);
  std::size_t unsent_bytes() const { return unsent_.size(); }

  /// Sends all messages that were added. Blocks until the other side has room. Throws
  /// ConnectionLost.
  void send();

  /// Adds a message, and sends all. A long one is not copied.
  void send(Kind kind, const std::string& bytes);

  /// Blocks until a message is there. Throws ConnectionLost.
  Message receive();

 private:
  void add_head(Kind kind, std::size_t bytes);
  void receive_all(char* data, std::size_t bytes);

  int socket_;
  std::string unsent_;
  // Received, not taken yet. Most messages come whole with one system call.
  std::array<char, 4096> received_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace rankbox::seal
