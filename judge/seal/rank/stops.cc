#include "judge/seal/rank/stops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <sys/socket.h>

#include "comm/memory_meter.h"
#include "judge/faults.h"
#include "judge/seal/wire.h"
#include "judge/stop_report.h"

namespace rankbox::seal {

namespace {

int referee_socket = -1;

/// Sends a whole message past those that wait to be sent. Safe in a signal handler.
void send_stop(std::string_view line) {
  std::array<char, sizeof(Head) + 512> bytes;
  const std::size_t size = std::min(line.size(), bytes.size() - sizeof(Head));
  const Head head = {Kind::kStopped, static_cast<std::uint32_t>(size)};
  std::memcpy(bytes.data(), &head, sizeof(head));
  std::memcpy(bytes.data() + sizeof(head), line.data(), size);
  (void)!send(referee_socket, bytes.data(), sizeof(head) + size, MSG_NOSIGNAL);
}

}  // namespace

void report_stops_to(int socket) {
  referee_socket = socket;
  use_signal_stack();
  report_stops(send_stop);
}

void set_function(const void* address) { set_library(address); }

std::string line_of_throw() {
  const std::string addresses = last_throw_of(rank_of_this_thread());
  return addresses.empty() ? "" : "stopped throw 0 rank -1 at " + addresses;
}

}  // namespace rankbox::seal
