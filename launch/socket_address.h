// From a name or number to what sockets connect to and listen at.
#pragma once

#include <string>
#include <vector>

#include <sys/socket.h>

namespace rankbox::launcher {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

struct Resolved {
  std::vector<SocketAddress> addresses;
  std::string problem;  // why there is none
};

/// All IPv4 and IPv6 addresses. Numbers are read at once; a name blocks for as long as the system's
/// resolver takes, seconds in a network without an answer, which no deadline of ours ends.
Resolved resolve(const std::string& host, int port);

/// Whether it can only ever mean this very machine: "localhost", "127.0.0.1", "::1". Not a host's
/// name, even where it resolves to 127.0.1.1: to others it means something else.
bool is_loopback(const std::string& host);

/// "10.0.0.1:29501", of a peer.
std::string in_words(const SocketAddress& address);

}  // namespace rankbox::launcher
