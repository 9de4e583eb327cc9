#include "judge/seal/wire.h"

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace rankbox::seal {
namespace {

struct Sockets {
  Sockets() {
    int pair[2] = {-1, -1};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    one = pair[0];
    other = pair[1];
  }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  ~Sockets() {
    close(one);
    close(other);
  }
  int one = -1;
  int other = -1;
};

TEST_CASE("messages of all sizes arrive whole and in order, alone or many at once") {
  const std::vector<std::size_t> sizes = {0,     1,     4087, 4088, 4089, 4096,    8192,
                                          10000, 70000, 3,    0,    0,    1 << 20, 17};
  for (const bool at_once : {false, true}) {
    const Sockets sockets;
    Connection sender(sockets.one);
    Connection receiver(sockets.other);
    std::jthread sending([&] {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        sender.add(i % 2 == 0 ? Kind::kSend : Kind::kRecv,
                   std::string(sizes[i], static_cast<char>('a' + i)));
        if (!at_once) sender.send();
      }
      sender.send();
    });
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Message message = receiver.receive();
      CHECK(message.kind == (i % 2 == 0 ? Kind::kSend : Kind::kRecv));
      CHECK(message.bytes == std::string(sizes[i], static_cast<char>('a' + i)));
    }
  }
}

TEST_CASE("an end, a part of a message, and too long a message are lost connections") {
  for (const std::size_t bytes : {0, 3, 8, 11}) {
    Sockets sockets;
    const char head[11] = {0, 0, 0, 0, 9, 0, 0, 0, 'a', 'b', 'c'};  // 9 bytes are announced
    REQUIRE(send(sockets.one, head, bytes, 0) == static_cast<ssize_t>(bytes));
    shutdown(sockets.one, SHUT_WR);
    CHECK_THROWS_AS(Connection(sockets.other).receive(), ConnectionLost);
  }
  const Sockets sockets;
  const char head[8] = {0, 0, 0, 0, 0, 0, 0, 127};
  REQUIRE(send(sockets.one, head, sizeof(head), 0) == sizeof(head));
  CHECK_THROWS_AS(Connection(sockets.other).receive(), ConnectionLost);
  CHECK_THROWS_AS(Connection(sockets.one).add(Kind::kSend, std::string(kMostBytes + 1, 'a')),
                  ConnectionLost);
}

}  // namespace
}  // namespace rankbox::seal
