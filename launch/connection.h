// Messages over one socket, in order, without ever waiting.
//
// Each side first sends eight bytes that only Rankbox sends, then messages: their length, their
// type, their content. Nothing here blocks: send() queues, flush() and read() move what can be
// moved now, and whoever owns the connection polls for more. One thread at a time.
//
// A message longer than the limit, or anything else than those eight bytes, is from a stranger: the
// connection closes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "launch/fd.h"

namespace rankbox::launcher {

enum class MessageType : std::uint8_t {
  kHello = 1,     // from a rank that connects
  kWelcome,       // the answer: rank 0's hello
  kRefused,       // or this: why not
  kStart,         // to all: everybody is there
  kContribution,  // from a rank that called a collective
  kRelease,       // to all: everybody has called it
  kStop,          // to rank 0: a rank fails; from rank 0: the first failure
  kGoodbye,       // no more will come, and that is right
};

struct Message {
  MessageType type = MessageType::kHello;
  std::string content;
};

/// The bytes of a message, which may be queued at many connections at once.
using Bytes = std::shared_ptr<const std::string>;
Bytes bytes_of(MessageType type, std::string_view content);

/// The most that one message may hold.
inline constexpr std::size_t kMostContent = std::size_t{64} << 20;
/// The same as long as we do not know whom it is from.
inline constexpr std::size_t kMostOfStranger = 4096;

class Connection {
 public:
  /// Takes a connected socket, and makes it non-blocking. A machine that goes silent is noticed
  /// after some ten seconds.
  explicit Connection(Fd socket, std::size_t most_content = kMostOfStranger);

  int fd() const { return socket_.get(); }
  bool wants_to_write() const { return !queue_.empty() && !cannot_write_; }

  void send(Bytes message);
  void flush();
  /// Takes what has come. False: nothing more ever will.
  bool read();
  /// The next message that is complete.
  std::optional<Message> next();

  /// From now on messages may be long: we know whom they are from.
  void trust() { most_content_ = kMostContent; }
  /// Sends nothing more; the other side sees the end once it has read all.
  void end_writing();

  /// Once read() has returned false: why. "closed", "Connection reset by peer", …
  const std::string& end() const { return end_; }
  /// The same, of a rank that should not have ended: what may have happened to it.
  std::string end_in_words() const;
  /// The other side is no Rankbox process.
  bool is_stranger() const { return stranger_; }

 private:
  void check_greeting();
  void refuse(const std::string& reason);

  Fd socket_;
  std::size_t most_content_;
  std::deque<Bytes> queue_;
  std::size_t sent_of_first_ = 0;
  std::string read_;       // what has come
  std::size_t taken_ = 0;  // so many bytes of it are done with
  bool greeted_ = false;   // their eight bytes have come
  bool cannot_write_ = false;
  bool stranger_ = false;
  bool silent_ = false;  // the kernel has given up hearing from it
  std::string end_;
};

}  // namespace rankbox::launcher
