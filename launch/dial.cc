#include "launch/dial.h"

#include <cerrno>
#include <cstring>

#include <poll.h>

#include "launch/socket_address.h"

namespace rankbox::launcher {

namespace {

constexpr int kPatience = 3000;  // ms for one address: others may answer

/// A port in the range that the kernel picks from may be picked for our own end of the connection,
/// which then talks to itself while nobody listens.
bool is_itself(int fd) {
  SocketAddress here, there;
  here.size = there.size = sizeof(here.storage);
  return getsockname(fd, here.get(), &here.size) == 0 &&
         getpeername(fd, there.get(), &there.size) == 0 && here.size == there.size &&
         std::memcmp(&here.storage, &there.storage, here.size) == 0;
}

/// 0, or errno.
int connect_within(int fd, const SocketAddress& address, const Deadline& deadline) {
  if (connect(fd, address.get(), address.size) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  const Deadline soon = std::min(deadline, Deadline::after(kPatience / 1000.0));
  pollfd waiting = {fd, POLLOUT, 0};
  while (poll(&waiting, 1, soon.milliseconds_left()) <= 0) {
    if (soon.passed()) return ETIMEDOUT;
  }
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

}  // namespace

Dialled dial(const std::string& host, int port, const Deadline& deadline) {
  const Resolved resolved = resolve(host, port);
  Dialled dialled;
  dialled.problem = resolved.problem;
  for (const SocketAddress& address : resolved.addresses) {
    Fd fd(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int error = fd.is_open() ? connect_within(fd.get(), address, deadline) : errno;
    if (error == 0 && is_itself(fd.get())) error = ECONNREFUSED;
    if (error == 0) {
      dialled.socket = std::move(fd);
      return dialled;
    }
    dialled.problem = std::strerror(error);
  }
  return dialled;
}

}  // namespace rankbox::launcher
