// Where rank 0 waits for the others.
#pragma once

#include <string>
#include <vector>

#include "launch/fd.h"
#include "launch/socket_address.h"

namespace rankbox::launcher {

/// Listens at a port: on the loopback device alone where `address` can mean nothing else, else on
/// all of this machine's addresses, IPv4 and IPv6, because the address that others use need not be
/// one that this machine knows of (containers, port forwarding).
class Listener {
 public:
  /// Throws Error, with the way out, for a port that is taken or not ours to take.
  Listener(const std::string& address, int port);

  /// One, or two: IPv4 and IPv6. Non-blocking.
  const std::vector<Fd>& sockets() const { return sockets_; }

  struct Accepted {
    Fd socket;         // not open: nobody is waiting
    std::string from;  // "10.0.0.1:29501"
    int error = 0;     // errno, where even trying again makes no sense: no more files
  };
  Accepted accept();

 private:
  std::vector<Fd> sockets_;
};

}  // namespace rankbox::launcher
