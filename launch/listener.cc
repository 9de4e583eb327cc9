#include "launch/listener.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>

#include "comm/errors.h"
#include "launch/meeting_point.h"

namespace rankbox::launcher {

namespace {

/// Not open, with errno, if it cannot be.
Fd listen_at(const SocketAddress& address, bool ipv4_too) {
  Fd fd(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return fd;
  const int yes = 1;
  const int only = ipv4_too ? 0 : 1;
  // What a run that just ended left behind at this port does not matter.
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (address.family() == AF_INET6) {
    setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
  }
  if (bind(fd.get(), address.get(), address.size) == 0 && listen(fd.get(), SOMAXCONN) == 0) {
    return fd;
  }
  const int reason = errno;
  fd.reset();
  errno = reason;
  return fd;
}

SocketAddress everywhere(int family, int port) {
  SocketAddress address;
  if (family == AF_INET6) {
    auto* ipv6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    ipv6->sin6_family = AF_INET6;
    ipv6->sin6_addr = in6addr_any;
    ipv6->sin6_port = htons(static_cast<std::uint16_t>(port));
    address.size = sizeof(*ipv6);
  } else {
    auto* ipv4 = reinterpret_cast<sockaddr_in*>(&address.storage);
    ipv4->sin_family = AF_INET;
    ipv4->sin_port = htons(static_cast<std::uint16_t>(port));
    address.size = sizeof(*ipv4);
  }
  return address;
}

[[noreturn]] void cannot_listen(const std::string& address, int port, int reason) {
  const std::string where = endpoint(address, port);
  if (reason == EADDRINUSE) {
    throw Error(
        fmt::format(
            "rank 0 cannot listen at port {} (for {}): it is taken, by another program, another "
            "job, or a second rank 0: set RANKBOX_PORT to a free port, the same on all ranks",
            port, where),
        {0, "listen", -1, "", 0});
  }
  if (reason == EACCES) {
    throw Error(
        fmt::format("rank 0 may not listen at port {} (for {}): ports below 1024 are root's: set "
                    "RANKBOX_PORT to a higher one, the same on all ranks",
                    port, where),
        {0, "listen", -1, "", 0});
  }
  throw Error(fmt::format("rank 0 cannot listen at {}: {}: is MASTER_ADDR right?", where,
                          std::strerror(reason)),
              {0, "listen", -1, "", 0});
}

}  // namespace

Listener::Listener(const std::string& address, int port) {
  int reason = EADDRNOTAVAIL;
  if (is_loopback(address)) {
    for (const SocketAddress& each : resolve(address, port).addresses) {
      Fd fd = listen_at(each, false);
      if (fd.is_open()) {
        sockets_.push_back(std::move(fd));
      } else {
        reason = errno;
        if (reason == EADDRINUSE) cannot_listen(address, port, reason);
      }
    }
    if (sockets_.empty()) cannot_listen(address, port, reason);
    return;
  }
  Fd fd = listen_at(everywhere(AF_INET6, port), true);
  // A machine may lack IPv6.
  if (!fd.is_open() && errno != EADDRINUSE) fd = listen_at(everywhere(AF_INET, port), true);
  if (!fd.is_open()) cannot_listen(address, port, errno);
  sockets_.push_back(std::move(fd));
}

Listener::Accepted Listener::accept() {
  Accepted accepted;
  for (const Fd& each : sockets_) {
    SocketAddress from;
    from.size = sizeof(from.storage);
    accepted.socket.reset(accept4(each.get(), from.get(), &from.size, SOCK_CLOEXEC));
    if (accepted.socket.is_open()) {
      accepted.from = in_words(from);
      return accepted;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      accepted.error = errno;
    }
  }
  return accepted;
}

}  // namespace rankbox::launcher
