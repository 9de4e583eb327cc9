#include "comm/post_mortem.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace rankbox {
namespace {

using Kind = PostMortem::Kind;

/// Builds the logs of a world, call by call. Lines are numbered, so that each call has its own.
class World {
 public:
  explicit World(int size) {
    std::vector<int> all;
    for (int rank = 0; rank < size; ++rank) all.push_back(rank);
    for (int rank = 0; rank < size; ++rank) {
      logs.emplace_back();
      logs.back().rank = rank;
      logs.back().groups = {{0, all, "", 0}};
    }
  }

  /// Returns the line of the call.
  int add(int rank, const char* op, FlightCall call, FlightState state) {
    FlightLog& log = logs[static_cast<std::size_t>(rank)];
    const int line = 100 * (rank + 1) + static_cast<int>(log.flights.size());
    log.flights.push_back(
        {log.recorded++, op, "ring.cc", line, 60.0 - static_cast<double>(clock_++), state, call});
    return line;
  }
  int send(int rank, int to, std::uint64_t number, std::int64_t count = 4,
           FlightState state = FlightState::kStarted) {
    return add(rank, "send",
               {.kind = FlightKind::kSend, .peer = to, .count = count, .number = number}, state);
  }
  int recv(int rank, int from, std::uint64_t number, std::int64_t count = 4,
           FlightState state = FlightState::kStarted) {
    return add(rank, "recv",
               {.kind = FlightKind::kRecv, .peer = from, .count = count, .number = number}, state);
  }
  int collective(int rank, std::uint64_t number, CollectiveKind kind,
                 FlightState state = FlightState::kStarted, int root = -1) {
    return add(rank, name_of(kind),
               {.kind = FlightKind::kCollective,
                .collective = kind,
                .root = root,
                .count = 4,
                .number = number},
               state);
  }

  PostMortem examine() const { return post_mortem(logs); }

  std::vector<FlightLog> logs;

 private:
  int clock_ = 0;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string at(int line) { return "ring.cc:" + std::to_string(line); }

constexpr auto kDone = FlightState::kDone;

TEST_CASE("nothing is wrong: no cause") {
  World world(2);
  CHECK(world.examine().kind == Kind::kUnknown);
  world.send(0, 1, 0, 4, kDone);
  world.recv(1, 0, 0, 4, kDone);
  world.collective(0, 0, CollectiveKind::kBarrier, kDone);
  world.collective(1, 0, CollectiveKind::kBarrier, kDone);
  CHECK(world.examine().kind == Kind::kUnknown);
}

TEST_CASE("a message whose ends disagree names both places") {
  for (const bool dtype : {false, true}) {
    CAPTURE(dtype);
    World world(3);
    world.send(0, 1, 0, 4, kDone);
    world.recv(1, 0, 0, 4, kDone);
    const int sent = world.send(0, 1, 1, dtype ? 8 : 5);
    const int received = world.recv(1, 0, 1, 8);
    if (dtype) world.logs[1].flights.back().call.dtype = DType::kFloat64;
    world.recv(2, 1, 0);  // hangs because of it
    const PostMortem found = world.examine();
    CHECK(found.kind == Kind::kMessageMismatch);
    CHECK(found.context.rank == 1);
    CHECK(found.context.peer == 0);
    CHECK(found.context.op == "recv");
    CHECK(found.context.line == received);
    CHECK(contains(found.text, at(sent)));
    CHECK(contains(found.text, at(received)));
  }
}

TEST_CASE("of two mismatches the earlier is named") {
  World world(4);
  world.send(2, 3, 0, 1);
  const int earlier = world.recv(3, 2, 0, 2);
  world.send(0, 1, 0, 3);
  world.recv(1, 0, 0, 4);
  CHECK(world.examine().context.line == earlier);
}

TEST_CASE("the first collective that two ranks call differently names both places") {
  World world(3);
  for (int rank = 0; rank < 3; ++rank) world.collective(rank, 0, CollectiveKind::kBarrier, kDone);
  const int a = world.collective(0, 1, CollectiveKind::kBroadcast, kDone, 0);
  world.collective(1, 1, CollectiveKind::kBroadcast, kDone, 0);
  const int b = world.collective(2, 1, CollectiveKind::kBroadcast, FlightState::kStarted, 1);
  world.collective(0, 2, CollectiveKind::kAllReduce);
  world.collective(1, 2, CollectiveKind::kBarrier);
  const PostMortem found = world.examine();
  CHECK(found.kind == Kind::kCollectiveMismatch);
  CHECK(found.context.rank == 0);
  CHECK(found.context.line == a);
  CHECK(contains(found.text, at(a)));
  CHECK(contains(found.text, at(b)));
  CHECK(contains(found.text, "root"));
}

TEST_CASE("a communicator is named by the line of its split, its ranks by their places in it") {
  constexpr std::uint64_t kOdd = 7;
  const auto message = [](FlightKind kind, int peer, std::int64_t count) {
    return FlightCall{.kind = kind, .peer = peer, .count = count, .group = kOdd};
  };
  FlightCall barrier{.kind = FlightKind::kCollective, .group = kOdd};
  FlightCall broadcast = barrier;
  broadcast.collective = CollectiveKind::kBroadcast;
  struct Failure {
    FlightCall at_3, at_1;
    Kind kind;
    const char* says;
  };
  const Failure failures[] = {
      {message(FlightKind::kSend, 1, 4), message(FlightKind::kRecv, 3, 5), Kind::kMessageMismatch,
       " (ranks 0 and 1 of the communicator split at odd.cc:70, of world ranks "},
      {barrier, broadcast, Kind::kCollectiveMismatch, ", in the communicator split at odd.cc:70"},
      {message(FlightKind::kRecv, 1, 4), message(FlightKind::kRecv, 3, 4), Kind::kStuck,
       ", in the communicator split at odd.cc:70, of world ranks "},
  };
  for (const Failure& failure : failures) {
    for (const bool is_world : {false, true}) {
      World world(4);
      for (FlightLog& log : world.logs) log.groups.push_back({kOdd, {3, 1}, "odd.cc", 70});
      FlightCall calls[] = {failure.at_3, failure.at_1};
      for (FlightCall& call : calls) call.group = is_world ? 0 : kOdd;
      world.add(3, "a", calls[0], FlightState::kStarted);
      world.add(1, "b", calls[1], FlightState::kStarted);
      const PostMortem found = world.examine();
      INFO(found.text);
      CHECK(found.kind == failure.kind);
      CHECK(contains(found.text, failure.says) == !is_world);
      CHECK(contains(found.text, "communicator") == !is_world);
    }
  }
}

TEST_CASE("without a mismatch a message that has not finished is named, before a collective") {
  World world(4);
  world.collective(0, 0, CollectiveKind::kBarrier);  // waits because rank 2 does
  world.send(2, 3, 0, 4, kDone);
  const int line = world.recv(2, 1, 0);
  world.recv(3, 2, 1);
  const PostMortem found = world.examine();
  CHECK(found.kind == Kind::kStuck);
  CHECK(found.context.rank == 2);
  CHECK(found.context.peer == 1);
  CHECK(found.context.op == "recv");
  CHECK(found.context.line == line);
  CHECK(contains(found.text, "rank 2"));
  CHECK(contains(found.text, "rank 1"));
  CHECK(contains(found.text, at(line)));
}

TEST_CASE("a collective that has not finished is named on the lowest rank") {
  World world(3);
  const int line = world.collective(0, 0, CollectiveKind::kBarrier);
  world.collective(2, 0, CollectiveKind::kBarrier);
  std::swap(world.logs[0], world.logs[2]);  // in any order
  const PostMortem found = world.examine();
  CHECK(found.kind == Kind::kStuck);
  CHECK(found.context.op == "barrier");
  CHECK(found.context.rank == 0);
  CHECK(found.context.peer == -1);
  CHECK(found.context.line == line);
}

TEST_CASE("an asynchronous operation does not block, the wait for it does") {
  World world(2);
  const FlightCall irecv{.kind = FlightKind::kRecv, .async = true, .peer = 1, .count = 4};
  world.add(0, "irecv", irecv, FlightState::kStarted);
  CHECK(world.examine().kind == Kind::kUnknown);
  FlightCall wait = irecv;
  wait.async = false;
  wait.waits = true;
  const int line = world.add(0, "wait", wait, FlightState::kStarted);
  const PostMortem found = world.examine();
  CHECK(found.kind == Kind::kStuck);
  CHECK(found.context.op == "wait");
  CHECK(found.context.line == line);
}

TEST_CASE("a rank without a log is named with the last operations") {
  World world(3);
  world.logs.pop_back();
  CHECK(contains(last_operations(world.logs, 3), "rank 2"));
}

TEST_CASE("what is found is thrown as the class that it is") {
  const auto thrown = [](Kind kind) {
    return error_of({kind, "text", {.rank = 1, .op = "recv", .file = "ring.cc", .line = 7}},
                    "more");
  };
  CHECK_THROWS_AS(std::rethrow_exception(thrown(Kind::kMessageMismatch)), MessageMismatch);
  CHECK_THROWS_AS(std::rethrow_exception(thrown(Kind::kCollectiveMismatch)), CollectiveMismatch);
  CHECK_THROWS_AS(std::rethrow_exception(thrown(Kind::kUnknown)), TimedOut);
  try {
    std::rethrow_exception(thrown(Kind::kStuck));
  } catch (const TimedOut& error) {
    CHECK(error.rank() == 1);
    CHECK(error.line() == 7);
    CHECK(contains(error.what(), "more"));
  }
}

}  // namespace
}  // namespace rankbox
