// Starting a star of real processes that do not belong together, or with strangers at the door.
#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm/errors.h"
#include "launch/dial.h"
#include "launch/hello.h"
#include "launch/listener.h"
#include "launch/reserved_port.h"
#include "launch/star.h"
#include "launch/test_processes.h"

namespace rankbox::launcher {
namespace {

constexpr double kSoon = 8;  // far below the deadline of 30 s

StarOptions options_of(int rank, int world_size, const ReservedPort& port, double seconds = 30) {
  StarOptions options;
  options.rank = rank;
  options.world_size = world_size;
  options.at = {"127.0.0.1", port.number(), "the test"};
  options.seconds = seconds;
  return options;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string start(const StarOptions& options) {
  Star star(options);
  star.barrier();
  return "started";
}

TEST_CASE("a rank 0 that is not there is told with its address and the way out, in time") {
  const ReservedPort port;
  const auto outcomes = run_processes(1, [&](int) { return start(options_of(1, 2, port, 0.6)); });
  const Outcome& outcome = outcomes.front();
  CAPTURE(outcome.text);
  CHECK(contains(outcome.text, "Error: rank 1 cannot reach rank 0 at 127.0.0.1:" +
                                   std::to_string(port.number()) + " after 0.6 s"));
  for (const char* part :
       {"Connection refused", "firewall", "MASTER_ADDR", "the test", "RANKBOX_PORT"}) {
    CHECK(contains(outcome.text, part));
  }
  CHECK(!contains(outcome.text, "\n"));
  CHECK(outcome.seconds > 0.5);
  CHECK(outcome.seconds < kSoon);
}

TEST_CASE("a name that cannot be looked up is told as such") {
  const ReservedPort port;
  const auto outcomes = run_processes(1, [&](int) {
    StarOptions options = options_of(1, 2, port, 0.3);
    options.at.address = "no-such-host.invalid";
    return start(options);
  });
  CAPTURE(outcomes.front().text);
  CHECK(contains(outcomes.front().text, "the name 'no-such-host.invalid' cannot be looked up"));
}

TEST_CASE("a port that is taken is told at once, by rank 0") {
  const ReservedPort port;
  const Listener taken("127.0.0.1", port.number());
  for (const std::string address : {"127.0.0.1", "localhost", "0.0.0.0"}) {
    CAPTURE(address);
    StarOptions options = options_of(0, 2, port);
    options.at.address = address;
    std::string message;
    try {
      start(options);
    } catch (const Error& error) {
      message = error.what();
    }
    CAPTURE(message);
    CHECK(contains(message, std::to_string(port.number())));
    CHECK(contains(message, "taken"));
    CHECK(contains(message, "set RANKBOX_PORT"));
  }
}

TEST_CASE("ranks that never come are named to those that did, when the time is up") {
  const ReservedPort port;
  const auto outcomes =
      run_processes(2, [&](int index) { return start(options_of(index * 2, 5, port, 0.7)); });
  for (const Outcome& outcome : outcomes) {
    CAPTURE(outcome.text);
    CHECK(contains(outcome.text, "Aborted: "));
    CHECK(contains(outcome.text, "ranks 1, 3 and 4 of 5 did not come"));
    CHECK(contains(outcome.text, "within 0.7 s"));
    CHECK(outcome.seconds < kSoon);
  }
}

// Rank 0 is of a world of 3 in job "a". The others are what the case says; all end soon, with these
// words.
struct Misfit {
  std::string what;
  std::function<void(StarOptions&)> change;  // of the second process
  std::vector<std::string> words;
};

TEST_CASE("processes that do not fit are told so on both sides, and both are named") {
  const std::vector<Misfit> misfits = {
      {"another world size",
       [](StarOptions& options) {
         options.rank = 2;
         options.world_size = 4;
       },
       {"the world size differs: 3 for rank 0 (pid", "but 4 for rank 2 (pid", "WORLD_SIZE"}},
      {"a rank that is taken",
       [](StarOptions& options) { options.rank = 1; },
       {"two processes are rank 1: pid", " and pid", "RANK of its own"}},
  };
  for (const Misfit& misfit : misfits) {
    CAPTURE(misfit.what);
    const ReservedPort port;
    const auto outcomes = run_processes(3, [&](int index) {
      StarOptions options = options_of(index, 3, port);
      options.job = "a";
      if (index == 2) misfit.change(options);
      return start(options);
    });
    // Of two that claim one rank, whoever came second is refused.
    int refused = 0;
    for (const Outcome& outcome : outcomes) {
      CAPTURE(outcome.text);
      for (const std::string& word : misfit.words) CHECK(contains(outcome.text, word));
      CHECK(outcome.seconds < kSoon);
      if (contains(outcome.text, "InvalidArgument: ")) ++refused;
    }
    CHECK(refused == 1);
    CHECK(contains(outcomes[0].text, "Aborted: "));
  }
}

TEST_CASE("a rank of another job is refused, and does not disturb") {
  const ReservedPort port;
  const auto outcomes = run_processes(3, [&](int index) {
    StarOptions options = options_of(index % 2, 2, port);
    options.job = index == 2 ? "b" : "a";
    options.rank = index == 0 ? 0 : 1;
    if (index == 1) sleep_for(0.7);  // first comes the wrong one
    return start(options);
  });
  CHECK(outcomes[0].text == "started");
  CHECK(outcomes[1].text == "started");
  CAPTURE(outcomes[2].text);
  for (const char* part : {"InvalidArgument: two jobs meet at one port", "belongs to job 'a'",
                           "to job 'b'", "RANKBOX_PORT"}) {
    CHECK(contains(outcomes[2].text, part));
  }
}

/// Connects, sends that, and keeps the connection.
Fd stranger(int port, const std::string& bytes) {
  Dialled dialled;
  comes_true([&] {
    dialled = dial("127.0.0.1", port, Deadline::after(1));
    return dialled.socket.is_open();
  });
  REQUIRE(dialled.socket.is_open());
  send(dialled.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return std::move(dialled.socket);
}

bool is_cut_off(const Fd& fd) {
  std::array<char, 4096> buffer;
  // What it is sent first, our greeting, earlier calls have taken.
  const ssize_t got = recv(fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN);
}

TEST_CASE("strangers do no harm, and are cut off: at once when they say anything else, else soon") {
  const std::string greeting = "RANKBOX\n";
  Hello future = {kProtocolVersion + 1, 1, 2, "another job", "pid 1 on the future"};
  const std::vector<std::string> sayings = {
      "",
      greeting,
      greeting.substr(0, 4),
      "GET / HTTP/1.1\r\n\r\n",
      std::string(100000, '\0'),
      greeting + std::string("\xff\xff\xff\xff\x01", 5),  // a message of 4 GiB
      greeting + std::string("\0\0\0\3\1abc", 8),         // a hello that is too short
      greeting + std::string("\0\0\0\0\7", 5),            // a stop from nobody
      greeting + *bytes_of(MessageType::kHello, encode(future)),
  };
  const ReservedPort port;
  const Shared<bool> gone(false);
  const auto outcomes = run_processes(
      2,
      [&](int rank) {
        if (rank == 1) sleep_for(1.5);
        Star star(options_of(rank, 2, port));
        for (int i = 0; i < 10; ++i) star.barrier();
        comes_true([&] { return (*gone).load(); });  // nobody else sends the strangers away
        star.barrier();
        return star.stopped() ? star.first_failure()->reason : "fine";
      },
      [&](const std::vector<pid_t>&) {
        std::vector<Fd> strangers;
        for (const std::string& saying : sayings) {
          strangers.push_back(stranger(port.number(), saying));
        }
        stranger(port.number(), greeting);  // and goes
        *gone = comes_true(
            [&] {
              bool all = true;
              for (const Fd& each : strangers) all = is_cut_off(each) && all;
              return all;
            },
            15);
      });
  CHECK(*gone);
  for (const Outcome& outcome : outcomes) CHECK(outcome.text == "fine");
}

TEST_CASE("what listens at the port and is no Rankbox is told as such") {
  struct Case {
    std::string saying;
    std::string words;
  };
  for (const Case& c : {Case{"SSH-2.0-OpenSSH_9.2\r\n", "something else listens there"},
                        {"", "it takes connections, but says nothing"}}) {
    const ReservedPort port;
    Listener listener("127.0.0.1", port.number());
    std::vector<Fd> accepted;
    const auto outcomes = run_processes(
        1, [&](int) { return start(options_of(1, 2, port, 0.5)); },
        [&](const std::vector<pid_t>& pids) {
          comes_true([&] {
            Listener::Accepted next = listener.accept();
            if (next.socket.is_open()) {
              send(next.socket.get(), c.saying.data(), c.saying.size(), MSG_NOSIGNAL);
              accepted.push_back(std::move(next.socket));
            }
            return is_dead(pids.front());
          });
        });
    CAPTURE(outcomes.front().text);
    CHECK(contains(outcomes.front().text, c.words));
    CHECK(outcomes.front().seconds < kSoon);
  }
}

}  // namespace
}  // namespace rankbox::launcher
