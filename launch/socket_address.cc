#include "launch/socket_address.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include "launch/meeting_point.h"

namespace rankbox::launcher {

Resolved resolve(const std::string& host, int port) {
  addrinfo wanted = {};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  Resolved resolved;
  if (error != 0) {
    resolved.problem =
        fmt::format("the name '{}' cannot be looked up: {}", host,
                    error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error));
    return resolved;
  }
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    SocketAddress address;
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
    resolved.addresses.push_back(address);
  }
  freeaddrinfo(found);
  return resolved;
}

bool is_loopback(const std::string& host) {
  if (host == "localhost") return true;
  in_addr ipv4 = {};
  if (inet_pton(AF_INET, host.c_str(), &ipv4) == 1) return ntohl(ipv4.s_addr) >> 24 == 127;
  in6_addr ipv6 = {};
  return inet_pton(AF_INET6, host.c_str(), &ipv6) == 1 && IN6_IS_ADDR_LOOPBACK(&ipv6);
}

std::string in_words(const SocketAddress& address) {
  // An IPv4 peer of a socket for both: in its own notation.
  const auto* ipv6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
  if (address.family() == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr)) {
    SocketAddress ipv4;
    auto* plain = reinterpret_cast<sockaddr_in*>(&ipv4.storage);
    plain->sin_family = AF_INET;
    plain->sin_port = ipv6->sin6_port;
    std::memcpy(&plain->sin_addr, &ipv6->sin6_addr.s6_addr[12], sizeof(plain->sin_addr));
    ipv4.size = sizeof(*plain);
    return in_words(ipv4);
  }
  std::array<char, NI_MAXHOST> host = {};
  std::array<char, NI_MAXSERV> port = {};
  const int error = getnameinfo(address.get(), address.size, host.data(), host.size(), port.data(),
                                port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  if (error != 0) return "an unknown address";
  return endpoint(host.data(), std::stoi(port.data()));
}

}  // namespace rankbox::launcher
