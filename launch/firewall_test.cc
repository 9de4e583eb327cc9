// Ports that answer nothing, as behind a firewall: what the processes' rendezvous makes of them.
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "launch/process_group.h"
#include "launch/test_processes.h"

namespace rankbox::launcher {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Returns in_words() of what rank 1 of 2 throws.
std::string failure_of_rank_1(const Endpoint& endpoint) {
  RankVariables who;
  who.rank = 1;
  who.world_size = 2;
  try {
    const ProcessGroup group(who, endpoint, /*seconds=*/0.5);
    return "";
  } catch (...) {
    return in_words(std::current_exception());
  }
}

/// A port whose queue of connections is full: it answers nothing, as behind a firewall.
class SilentPort {
 public:
  SilentPort() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const Endpoint endpoint = port_.endpoint();
    const int yes = 1;
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(endpoint.port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0);
    REQUIRE(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(listen(listener_.get(), 0) == 0);
    try {
      while (queued_.size() < 10) queued_.push_back(connect_to(endpoint, deadline_after(0.2)));
    } catch (const Disconnected&) {  // full
    }
    REQUIRE(queued_.size() < 10);
  }
  int number() const { return port_.number(); }

 private:
  ReservedPort port_;
  Fd listener_;
  std::vector<Fd> queued_;
};

TEST_CASE("where nothing answers a firewall is likely, and more so if MASTER_PORT answers") {
  const SilentPort silent;
  const SilentPort silent_too;
  const ReservedPort refusing;
  const ReservedPort reserved;
  const Fd accepting = listen_at(reserved.endpoint());
  struct Row {
    const char* name;
    int master_port;
    std::vector<std::string> says;
  };
  const Row rows[] = {
      {"RANKBOX_PORT",
       0,
       {"a firewall is likely, or a wrong address", "MASTER_ADDR (now from it)"}},
      {"MASTER_PORT accepts",
       reserved.number(),
       {fmt::format("a firewall is likely, since MASTER_PORT {} is reached", reserved.number()),
        "(the one after MASTER_PORT"}},
      {"MASTER_PORT refuses",
       refusing.number(),
       {fmt::format("a firewall is likely, since MASTER_PORT {} is reached", refusing.number())}},
      {"MASTER_PORT is silent, too",
       silent_too.number(),
       {"a firewall is likely, or a wrong address", "(the one after MASTER_PORT"}},
  };
  for (const Row& row : rows) {
    const std::string name = row.name;
    CAPTURE(name);
    const std::string text =
        failure_of_rank_1({"127.0.0.1", silent.number(), "it", row.master_port});
    CAPTURE(text);
    CHECK(contains(text, fmt::format("open port {}", silent.number())));
    CHECK(contains(text, "RANKBOX_PORT"));
    for (const std::string& part : row.says) CHECK(contains(text, part));
  }
}

}  // namespace
}  // namespace rankbox::launcher
