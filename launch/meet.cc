#include "launch/meet.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <poll.h>

#include "comm/errors.h"
#include "launch/dial.h"
#include "launch/failure.h"

namespace rankbox::launcher {

namespace {

ErrorContext context_of(const StarOptions& options) { return {options.rank, "start", 0, "", 0}; }

/// Empty: we are in. Else what went wrong; another try may help.
std::string be_welcomed(Connection& line, const StarOptions& options, const Hello& mine,
                        const Deadline& deadline) {
  line.send(bytes_of(MessageType::kHello, encode(mine)));
  while (true) {
    const bool open = line.read();
    while (const auto message = line.next()) {
      if (message->type == MessageType::kRefused) {
        throw InvalidArgument(message->content, context_of(options));
      }
      if (message->type == MessageType::kStop) {
        throw Aborted(fmt::format("rank {} comes too late: {}", options.rank,
                                  decode_failure(message->content).reason),
                      context_of(options));
      }
      if (message->type != MessageType::kWelcome) return "it answers out of turn";
      const std::string differs = disagreement(decode_hello(message->content), mine);
      if (!differs.empty()) throw InvalidArgument(differs, context_of(options));
      line.trust();
      return "";
    }
    if (line.is_stranger()) return "something else listens there: " + line.end();
    if (!open) return "it answers, but ends the connection: " + line.end();
    if (deadline.passed()) return "it takes connections, but says nothing";
    pollfd waiting = {line.fd(),
                      static_cast<short>(line.wants_to_write() ? POLLIN | POLLOUT : POLLIN), 0};
    poll(&waiting, 1, deadline.milliseconds_left());
    line.flush();
  }
}

}  // namespace

std::unique_ptr<Connection> meet(const StarOptions& options, const Hello& mine,
                                 const Deadline& deadline) {
  int pause = 10;  // ms
  std::string problem;
  while (true) {
    Dialled dialled = dial(options.at.address, options.at.port, deadline);
    std::string now = dialled.problem;
    if (dialled.socket.is_open()) {
      auto line = std::make_unique<Connection>(std::move(dialled.socket));
      now = be_welcomed(*line, options, mine, deadline);
      if (now.empty()) return line;
    }
    // A try that the deadline cuts short tells less than the one before.
    if (problem.empty() || !deadline.passed()) problem = now;
    if (deadline.passed()) {
      throw Error(
          fmt::format("rank {} cannot reach rank 0 at {} after {:g} s ({}): is rank 0 running "
                      "there, is the port "
                      "open in its firewall? set MASTER_ADDR (now from {}) and RANKBOX_PORT",
                      options.rank, endpoint(options.at.address, options.at.port), options.seconds,
                      problem, options.at.source),
          context_of(options));
    }
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::min(pause, deadline.milliseconds_left())));
    pause = std::min(pause * 3 / 2, 250);
  }
}

}  // namespace rankbox::launcher
