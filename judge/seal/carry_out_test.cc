// What the referee makes of a rank's process that ends, or sends what is no request.
#include <cstdint>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm/comm.h"
#include "comm/error_bytes.h"
#include "comm/errors.h"
#include "comm/result_bytes.h"
#include "comm/run_ranks.h"
#include "judge/seal/referee/referee.h"
#include "judge/seal/wire.h"
#include "tests/support/text.h"

namespace rankbox::seal {
namespace {

using Broadcast = void (*)(Comm& dist, Tensor& tensor, int src);

struct Sent {
  Kind kind;
  std::string bytes;
};

/// How two calls in a row end: empty if a call returns, else "Class of rank N: message".
struct Ends {
  std::string first;
  std::string second;
};

std::string in_words(const std::string& name, const Error& error) {
  return name + " of rank " + std::to_string(error.rank()) + ": " + error.what();
}

std::string end_of_call(Comm& dist) {
  const auto broadcast = reinterpret_cast<Broadcast>(sealed_function("broadcast"));
  Tensor tensor = zeros({2});
  try {
    broadcast(dist, tensor, 0);
  } catch (const OutOfMemory& error) {
    return in_words("OutOfMemory", error);
  } catch (const TimedOut& error) {
    return in_words("TimedOut", error);
  } catch (const Aborted& error) {
    return in_words("Aborted", error);
  } catch (const Error& error) {
    return in_words("Error", error);
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  return "";
}

/// Calls a function twice whose process sends these messages.
Ends ends_with(const std::vector<Sent>& messages, bool then_ends = false) {
  const int process = connect_ranks(1).at(0);
  Connection connection(process);
  for (const Sent& message : messages) connection.add(message.kind, message.bytes);
  if (!messages.empty()) connection.send();
  if (then_ends) shutdown(process, SHUT_WR);
  Ends ends;
  try {
    run_ranks({.world_size = 1}, [&](Comm& dist) {
      ends = {end_of_call(dist), end_of_call(dist)};  // in this order
      end_case();
    });
  } catch (const Error&) {  // of what the requests left behind
  }
  disconnect_ranks();
  close(process);
  return ends;
}

template <class... T>
std::string bytes_of(const T&... values) {
  ByteWriter writer;
  (writer.put(values), ...);
  return writer.bytes;
}

/// A request to receive in this many elements, without a reply.
std::string irecv(std::uint32_t number, std::int64_t elements) {
  return bytes_of(std::string("a.cc"), std::uint32_t{1}, std::uint32_t{0}, number, 0,
                  DType::kFloat32, elements);
}

TEST_CASE("what is no request fails its rank, and the process takes no more calls") {
  struct Row {
    std::string name;
    std::vector<Sent> messages;
  };
  const std::vector<Row> rows = {
      {"a request that is cut short", {{Kind::kRecv, "abc"}}},
      {"an unknown request", {{static_cast<Kind>(99), ""}}},
      {"a communicator that does not exist",
       {{Kind::kRecv, bytes_of(std::string("a.cc"), std::uint32_t{1}, std::uint32_t{7})}}},
      {"fewer than no elements", {{Kind::kIrecv, irecv(1, -1)}}},
      {"more elements than any message has", {{Kind::kIrecv, irecv(1, std::int64_t{1} << 60)}}},
      {"a number twice", {{Kind::kIrecv, irecv(1, 1)}, {Kind::kIrecv, irecv(1, 1)}}},
      {"a return without its values", {{Kind::kReturned, ""}}},
      {"an error of no class", {{Kind::kThrew, "abc"}}},
  };
  for (const Row& row : rows) {
    const Ends ends = ends_with(row.messages);
    INFO(row.name, ": ", ends.first, "; ", ends.second);
    CHECK(ends.first.starts_with("Error of rank 0: "));
    CHECK(testing::contains(ends.first, "no request"));
    CHECK(ends.second.starts_with("TimedOut of rank 0: "));
  }
}

TEST_CASE("a process that ends fails its rank, and takes no more calls") {
  const Ends ends = ends_with({}, /*then_ends=*/true);
  CHECK(ends.first.starts_with("Error of rank 0: "));
  CHECK(testing::contains(ends.first, "ended"));
  CHECK(ends.second.starts_with("TimedOut of rank 0: "));
}

TEST_CASE("no rank says that another one is the cause, and the next call is served") {
  const std::string aborted = error_to_bytes(std::make_exception_ptr(Aborted("another one")));
  const std::string tensor = bytes_of(std::string("no values"));
  const Ends ends = ends_with({{Kind::kThrew, aborted}, {Kind::kReturned, tensor}});
  CHECK(ends.first.starts_with("Error of rank -1: another one"));
  CHECK(testing::contains(ends.second, "no request"));
}

TEST_CASE("a process that claims a verdict of the referee's has thrown a text, at no place") {
  ErrorContext context;
  context.rank = 3;
  context.op = "graded by hand";
  context.file = "3 of 3 points";
  const std::exception_ptr claims[] = {
      std::make_exception_ptr(DeadlockError("a claim", context, {}, {})),
      std::make_exception_ptr(MessageMismatch("a claim", context)),
      std::make_exception_ptr(CollectiveMismatch("a claim", context)),
      std::make_exception_ptr(UnreceivedMessage("a claim", context)),
      std::make_exception_ptr(TimedOut("a claim", context)),
      std::make_exception_ptr(Error("a claim", context))};
  for (const std::exception_ptr& claim : claims) {
    const Ends ends = ends_with({{Kind::kThrew, error_to_bytes(claim)}}, /*then_ends=*/true);
    CHECK(ends.first == "Error of rank 3: a claim");
  }
}

std::int64_t data_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kib = 0;
    if (word == "VmData:" && status >> kib) return kib << 10;
  }
  return 0;
}

TEST_CASE("requests that need too much memory fail their rank, and nothing else") {
  constexpr std::int64_t kMostElements = std::int64_t{kMostBytes} / 4;
  std::vector<Sent> requests;
  for (std::uint32_t i = 0; i < 4; ++i) requests.push_back({Kind::kIrecv, irecv(i, kMostElements)});
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_DATA, &before) == 0);
  const rlimit less = {static_cast<rlim_t>(data_bytes()) + 2 * kMostBytes, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_DATA, &less) == 0);
  const Ends ends = ends_with(requests);
  setrlimit(RLIMIT_DATA, &before);
  CHECK(ends.first.starts_with("OutOfMemory of rank 0: "));
  CHECK(testing::contains(ends.first, "memory"));
  CHECK(ends.second.starts_with("TimedOut of rank 0: "));
}

}  // namespace
}  // namespace rankbox::seal
