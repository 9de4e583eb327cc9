#include "seal/wire.h"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include <sys/socket.h>

namespace rankbox::seal {

namespace {

struct Head {
  Kind kind;
  std::uint32_t bytes;
};

void send_all(int socket, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t sent = send(socket, data, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) throw ConnectionLost("the other process has ended");
    data += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}

void receive_all(int socket, char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = recv(socket, data, bytes, MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw ConnectionLost("the other process has ended");
    data += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

}  // namespace

void send_message(int socket, Kind kind, const std::string& bytes) {
  if (bytes.size() > kMostBytes) throw ConnectionLost("a message is longer than 64 MiB");
  // In one call: the receiver then wakes once.
  const Head head = {kind, static_cast<std::uint32_t>(bytes.size())};
  std::string whole(sizeof(head) + bytes.size(), '\0');
  std::memcpy(whole.data(), &head, sizeof(head));
  std::memcpy(whole.data() + sizeof(head), bytes.data(), bytes.size());
  send_all(socket, whole.data(), whole.size());
}

Message receive_message(int socket) {
  Head head = {};
  receive_all(socket, reinterpret_cast<char*>(&head), sizeof(head));
  if (head.bytes > kMostBytes) throw ConnectionLost("a message is longer than 64 MiB");
  Message message{head.kind, std::string(head.bytes, '\0')};
  receive_all(socket, message.bytes.data(), message.bytes.size());
  return message;
}

}  // namespace rankbox::seal
