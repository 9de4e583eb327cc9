#include "gpu/launch/socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "comm/errors.h"

namespace rankbox::launcher {

namespace {

constexpr std::string_view kMagic = "RANKBOX2";  // the number changes with the protocol

struct Header {
  char magic[8];
  std::uint64_t size;
  double seconds;
};

void set_option(const Fd& socket, int level, int option, int value) {
  setsockopt(socket.get(), level, option, &value, sizeof(value));
}

/// The kernel reports a silent peer machine after some ten seconds.
Fd watched(Fd socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 4);          // s of silence before the first probe,
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 2);         // s between probes,
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);           // unanswered probes allowed
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 10000);  // ms for sent data to be confirmed
  return socket;
}

/// Blocks until the socket is ready. Returns false once the deadline has passed.
bool is_ready(const Fd& socket, short events, Deadline deadline) {
  pollfd waiting = {socket.get(), events, 0};
  while (true) {
    const int ready = poll(&waiting, 1, milliseconds_until(deadline));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Resolves to all IPv4 and IPv6 addresses. A name takes as long as the system's resolver; no
/// deadline here applies.
Addresses resolve(const std::string& host, int port) {
  addrinfo wanted = {};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (error == 0) return {found, freeaddrinfo};
  throw Disconnected(fmt::format("cannot look up '{}': {}", host, gai_strerror(error)));
}

Fd new_socket(const addrinfo& address) {
  return Fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// Returns 0 or errno.
int try_to_listen(const Fd& listener, const addrinfo& address) {
  if (!listener.is_open()) return errno;
  // A connection from an earlier run may still hold the port.
  set_option(listener, SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.ai_family == AF_INET6) set_option(listener, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  const bool listens = bind(listener.get(), address.ai_addr, address.ai_addrlen) == 0 &&
                       listen(listener.get(), SOMAXCONN) == 0;
  return listens ? 0 : errno;
}

/// Returns 0 or errno.
int try_to_connect(const Fd& socket, const addrinfo& address, Deadline deadline) {
  constexpr double kSeconds = 3;  // another address may answer
  if (!socket.is_open()) return errno;
  if (connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  if (!is_ready(socket, POLLOUT, std::min(deadline, deadline_after(kSeconds)))) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  return getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

/// Calls `transfer`, a send or recv at an offset, until `size` bytes have been transferred.
template <class Transfer>
void transfer_all(const Fd& socket, std::size_t size, short events, Deadline deadline,
                  Transfer transfer) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t now = transfer(done, size - done);
    if (now > 0) {
      done += static_cast<std::size_t>(now);
    } else if (now == 0) {
      throw Disconnected("it closed the connection");
    } else if (errno != EAGAIN && errno != EINTR) {
      throw Disconnected(std::strerror(errno));
    } else if (!is_ready(socket, events, deadline)) {
      throw Disconnected("it is connected, but does not answer");
    }
  }
}

void receive(const Fd& socket, char* to, std::size_t size, Deadline deadline) {
  transfer_all(socket, size, POLLIN, deadline, [&](std::size_t offset, std::size_t left) {
    return recv(socket.get(), to + offset, left, 0);
  });
}

}  // namespace

Deadline deadline_after(double seconds) {
  constexpr double kYear = 366 * 24 * 3600.0;
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             std::chrono::duration<double>(std::min(seconds, kYear)));
}

int milliseconds_until(Deadline deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 1 << 30));
}

Fd listen_at(const Endpoint& endpoint) {
  // This host's name may resolve to 127.0.1.1 on this machine only, so it means every interface.
  const std::string& address = endpoint.address;
  const bool loopback = address == "localhost" || address == "::1" || address.starts_with("127.");
  int error = 0;
  // "::" accepts IPv4 as well; a machine may lack IPv6.
  for (const std::string& host :
       loopback ? std::vector{address} : std::vector<std::string>{"::", "0.0.0.0"}) {
    const Addresses addresses = resolve(host, endpoint.port);
    for (const addrinfo* each = addresses.get(); each != nullptr && error != EADDRINUSE;
         each = each->ai_next) {
      Fd listener = new_socket(*each);
      error = try_to_listen(listener, *each);
      if (error == 0) return listener;
    }
    if (error == EADDRINUSE) break;
  }
  throw Error(fmt::format("rank 0 cannot listen at {} ({}): is MASTER_ADDR right, and is the port "
                          "free? Set RANKBOX_PORT, the same on all ranks",
                          to_string(endpoint), std::strerror(error)),
              {0, "start", -1, "", 0});
}

Fd accept_from(const Fd& listener) {
  Fd socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.is_open()) return watched(std::move(socket));
  if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
    throw Error(fmt::format("rank 0 cannot accept another connection ({}): raise ulimit -n above "
                            "the number of ranks",
                            std::strerror(errno)),
                {0, "start", -1, "", 0});
  }
  return socket;
}

Fd connect_to(const Endpoint& endpoint, Deadline deadline) {
  const Addresses addresses = resolve(endpoint.address, endpoint.port);
  int error = 0;
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    Fd socket = new_socket(*each);
    error = try_to_connect(socket, *each, deadline);
    if (error == 0) return watched(std::move(socket));
  }
  throw Disconnected(std::strerror(error));
}

void send_message(const Fd& socket, std::string_view bytes, double seconds, std::size_t limit,
                  Deadline deadline) {
  Header header = {{}, bytes.size(), seconds};
  kMagic.copy(header.magic, kMagic.size());
  std::string all(reinterpret_cast<const char*>(&header), sizeof(header));
  if (bytes.size() <= limit) all += bytes;
  transfer_all(socket, all.size(), POLLOUT, deadline, [&](std::size_t offset, std::size_t left) {
    return send(socket.get(), all.data() + offset, left, MSG_NOSIGNAL);
  });
}

Message receive_message(const Fd& socket, std::size_t limit, Deadline deadline) {
  Header header;
  receive(socket, header.magic, sizeof(header.magic), deadline);
  if (std::string_view(header.magic, sizeof(header.magic)) != kMagic)
    throw Disconnected("it is another program, or another version of this one");
  receive(socket, reinterpret_cast<char*>(&header) + sizeof(header.magic),
          sizeof(header) - sizeof(header.magic), deadline);
  Message message = {header.seconds, header.size, {}};
  if (header.size > limit) return message;
  message.bytes.resize(header.size);
  receive(socket, message.bytes.data(), message.bytes.size(), deadline);
  return message;
}

}  // namespace rankbox::launcher
