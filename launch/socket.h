// TCP sockets, and messages of bounded size that pass over them within bounded time.
//
// A message begins with eight bytes that only this protocol sends, then its size, how long the
// sender waits for an answer, and its bytes. All sockets are non-blocking; no call here takes
// longer than its deadline, and what goes wrong with a peer is a Disconnected that says why.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "files/fd.h"
#include "launch/endpoint.h"

namespace rankbox::launcher {

using Deadline = std::chrono::steady_clock::time_point;

/// So many seconds from now, a year at most.
Deadline deadline_after(double seconds);
/// For poll(): rounded up; 0 once the deadline has passed.
int milliseconds_until(Deadline deadline);

struct Disconnected : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Message {
  double seconds = 0;      // how long the sender waits for an answer
  std::uint64_t size = 0;  // of the bytes, also where they were too many to be sent
  std::string bytes;
};

/// Listens on the loopback interface if the address is one of it, else on all interfaces.
/// Throws Error, with the endpoint and the fix, where that is not possible.
Fd listen_at(const Endpoint& endpoint);

/// The next connection; a closed Fd if none waits. Throws Error where this process may open no
/// more.
Fd accept_from(const Fd& listener);

/// One attempt to connect to each of the endpoint's addresses. Throws Disconnected.
Fd connect_to(const Endpoint& endpoint, Deadline deadline);

/// Sends a message: of bytes beyond the limit only the size. Throws Disconnected.
void send_message(const Fd& socket, std::string_view bytes, double seconds, std::size_t limit,
                  Deadline deadline);

/// Blocks until a message has arrived. Throws Disconnected, also for bytes of another protocol.
Message receive_message(const Fd& socket, std::size_t limit, Deadline deadline);

}  // namespace rankbox::launcher
