// TCP sockets, and messages with bounded size and time.
//
// A message begins with eight bytes that identify the protocol. Its size, the sender's timeout for
// an answer, and its bytes follow. All sockets are non-blocking, and no call exceeds its deadline.
// A problem with a peer throws Disconnected with the reason.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "files/fd.h"
#include "gpu/launch/endpoint.h"

namespace rankbox::launcher {

using Deadline = std::chrono::steady_clock::time_point;

/// Returns the time this many seconds from now, a year at most.
Deadline deadline_after(double seconds);
/// Returns the timeout for poll(): rounded up; 0 once the deadline has passed.
int milliseconds_until(Deadline deadline);

struct Disconnected : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Message {
  double seconds = 0;      // the sender's timeout for an answer
  std::uint64_t size = 0;  // of the bytes, even if they were too many to send
  std::string bytes;
};

/// Listens on the loopback interface if the address belongs to it, else on all interfaces.
/// Throws Error, with the endpoint and the fix, if it cannot.
Fd listen_at(const Endpoint& endpoint);

/// Returns the next connection; a closed Fd if none waits. Throws Error if this process can open no
/// more.
Fd accept_from(const Fd& listener);

/// Tries each of the endpoint's addresses once. Throws Disconnected.
Fd connect_to(const Endpoint& endpoint, Deadline deadline);

/// Sends a message; if the bytes exceed the limit, only their size. Throws Disconnected.
void send_message(const Fd& socket, std::string_view bytes, double seconds, std::size_t limit,
                  Deadline deadline);

/// Blocks until a message has arrived. Throws Disconnected, also for bytes of another protocol.
Message receive_message(const Fd& socket, std::size_t limit, Deadline deadline);

}  // namespace rankbox::launcher
