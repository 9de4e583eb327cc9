#include "judge/seal/wire.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <sys/socket.h>

namespace rankbox::seal {

namespace {

constexpr std::size_t kMostKept = std::size_t{1} << 16;  // of the memory for messages

void send_all(int socket, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t sent = send(socket, data, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) throw ConnectionLost("the other process has ended");
    data += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}

}  // namespace

void Connection::add_head(Kind kind, std::size_t bytes) {
  if (bytes > kMostBytes) throw ConnectionLost("a message is longer than 64 MiB");
  const Head head = {kind, static_cast<std::uint32_t>(bytes)};
  unsent_.append(reinterpret_cast<const char*>(&head), sizeof(head));
}

void Connection::add(Kind kind, const std::string& bytes) {
  add_head(kind, bytes.size());
  unsent_ += bytes;
}

void Connection::send() {
  // In one call: the receiver then wakes once.
  send_all(socket_, unsent_.data(), unsent_.size());
  unsent_.clear();
  if (unsent_.capacity() > kMostKept) unsent_.shrink_to_fit();
}

void Connection::send(Kind kind, const std::string& bytes) {
  const bool is_long = bytes.size() > kMostKept;
  add_head(kind, bytes.size());
  if (!is_long) unsent_ += bytes;
  send();
  if (is_long) send_all(socket_, bytes.data(), bytes.size());
}

Message Connection::receive() {
  Head head = {};
  receive_all(reinterpret_cast<char*>(&head), sizeof(head));
  if (head.bytes > kMostBytes) throw ConnectionLost("a message is longer than 64 MiB");
  Message message{head.kind, std::string(head.bytes, '\0')};
  receive_all(message.bytes.data(), message.bytes.size());
  return message;
}

void Connection::receive_all(char* data, std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t taken = std::min(bytes, end_ - begin_);
    std::memcpy(data, received_.data() + begin_, taken);
    begin_ += taken;
    data += taken;
    bytes -= taken;
    if (bytes == 0) return;
    const bool fits = bytes <= received_.size();
    const ssize_t got = fits ? recv(socket_, received_.data(), received_.size(), 0)
                             : recv(socket_, data, bytes, MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw ConnectionLost("the other process has ended");
    if (fits) {
      begin_ = 0;
      end_ = static_cast<std::size_t>(got);
    } else {
      data += got;
      bytes -= static_cast<std::size_t>(got);
    }
  }
}

}  // namespace rankbox::seal
