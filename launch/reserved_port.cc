#include "launch/reserved_port.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "comm/errors.h"

namespace rankbox::launcher {

ReservedPort::ReservedPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int yes = 1;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (!socket_.is_open() ||
      setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
      bind(socket_.get(), any, size) != 0 || getsockname(socket_.get(), any, &size) != 0) {
    throw Error(fmt::format("no free port on this machine: {}", std::strerror(errno)));
  }
  number_ = ntohs(address.sin_port);
}

}  // namespace rankbox::launcher
