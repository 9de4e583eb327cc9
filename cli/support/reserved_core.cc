#include "cli/support/reserved_core.h"

#include <cstddef>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace rankbox::cli {

namespace {

/// Returns a socket bound to the name, or a closed one if the name is taken. The name is abstract:
/// the system frees it when the socket is closed, and no file remains.
Fd socket_named(const std::string& name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const std::size_t size = offsetof(sockaddr_un, sun_path) + 1 + name.size();
  Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size)) < 0)
    fd.reset();
  return fd;
}

}  // namespace

ReservedCore::ReservedCore(const std::string& purpose) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0) return;
  const int first = sched_getcpu();
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    const int core = (first + i) % CPU_SETSIZE;
    if (!CPU_ISSET(static_cast<std::size_t>(core), &allowed)) continue;
    reservation_ = socket_named(fmt::format("rankbox-{}-{}", purpose, core));
    if (!reservation_.is_open()) continue;
    number_ = core;
    return;
  }
}

void pin_to_core(int number) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(number), &only);
  // The verdict does not depend on it.
  static_cast<void>(sched_setaffinity(0, sizeof(only), &only));
}

}  // namespace rankbox::cli
