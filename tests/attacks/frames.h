// What attacks on the referee share: messages in its format, with any content.
#pragma once

#include <type_traits>

#include "attack.h"

namespace rankbox::attack {

// The numbers of judge/seal/wire.h.
constexpr std::uint32_t kIrecv = 5;
constexpr std::uint32_t kDrop = 7;
constexpr std::uint32_t kAccumulate = 9;
constexpr std::uint32_t kRecv = 12;
constexpr std::uint32_t kWait = 14;
constexpr std::uint32_t kCollective = 15;
constexpr std::uint32_t kThrew = 28;

/// The content of a message.
struct Content {
  template <class T>
  Content& add(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Content& add_text(const std::string& text) {
    add(text.size());
    bytes += text;
    return *this;
  }
  /// The place of a call, and its communicator.
  Content& add_call(std::uint32_t communicator = 0) {
    return add_text("attack.cc").add(std::uint32_t{1}).add(communicator);
  }

  std::string bytes;
};

/// Sends a message to the referee, whatever the number of its socket is.
inline void send_frame(std::uint32_t kind, const Content& content) {
  std::string frame;
  for (const std::uint32_t word : {kind, static_cast<std::uint32_t>(content.bytes.size())})
    frame.append(reinterpret_cast<const char*>(&word), sizeof(word));
  frame += content.bytes;
  for (int fd = 4; fd < 256; ++fd) {
    if (send(fd, frame.data(), frame.size(), MSG_NOSIGNAL) > 0) return;
  }
}

/// Sends bytes to the referee and to whatever else is a socket.
inline void to_referee(const void* bytes, std::size_t size) {
  for (int fd = 4; fd < 256; ++fd) (void)!send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace rankbox::attack
