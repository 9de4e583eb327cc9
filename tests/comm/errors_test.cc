// Errors carry who, what and where as data.
#include "comm/errors.h"

#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace rankbox {
namespace {

TEST_CASE("an error carries its context") {
  const Aborted error("stopped", {3, "recv", 5, "ring.cc", 42});
  CHECK(std::string(error.what()) == "stopped");
  CHECK(error.rank() == 3);
  CHECK(error.op() == "recv");
  CHECK(error.peer() == 5);
  CHECK(error.file() == "ring.cc");
  CHECK(error.line() == 42);
}

TEST_CASE("without context nothing is claimed") {
  const InvalidArgument error("bad");
  CHECK(error.rank() == -1);
  CHECK(error.peer() == -1);
  CHECK(error.op().empty());
  CHECK(error.file().empty());
  CHECK(error.line() == 0);
}

TEST_CASE("attribute_to names the rank and keeps the rest") {
  Error error("late", {-1, "send", 2, "tree.cc", 7});
  error.attribute_to(4);
  CHECK(error.rank() == 4);
  CHECK(error.op() == "send");
  CHECK(error.peer() == 2);
  CHECK(error.line() == 7);
}

TEST_CASE("NotImplemented names the function and the line of the stub") {
  const NotImplemented error("allreduce_ring");
  const int here = __LINE__ - 1;
  CHECK(error.op() == "allreduce_ring");
  CHECK(error.line() == here);
  CHECK(error.file().find("errors_test.cc") != std::string::npos);
  CHECK(std::string(error.what()).find("allreduce_ring") != std::string::npos);
  CHECK(std::string(error.what()).find(":" + std::to_string(here)) != std::string::npos);
}

TEST_CASE("a deadlock keeps its waits and its cycle, also in a copy") {
  const DeadlockError first("deadlock", {0, "send", 1, "a.cc", 1},
                            {{0, "send", {1}, 4, "a.cc", 1}, {1, "recv", {2}, 8, "b.cc", 2}},
                            {0, 1});
  const DeadlockError error = first;
  REQUIRE(error.waits().size() == 2);
  CHECK(error.waits()[1].rank == 1);
  CHECK(error.waits()[1].op == "recv");
  CHECK(error.waits()[1].peers == std::vector<int>{2});
  CHECK(error.waits()[1].bytes == 8);
  CHECK(error.waits()[1].file == "b.cc");
  CHECK(error.waits()[1].line == 2);
  CHECK(error.cycle() == std::vector<int>{0, 1});
}

template <class E>
bool is_caught_as_error(const E& error) {
  try {
    throw E(error);
  } catch (const Error& base) {
    return std::string(base.what()) == error.what();
  } catch (...) {
    return false;
  }
}

TEST_CASE("one handler catches them all") {
  CHECK(is_caught_as_error(InvalidArgument("a")));
  CHECK(is_caught_as_error(NotImplemented("a")));
  CHECK(is_caught_as_error(Aborted("a")));
  CHECK(is_caught_as_error(MessageMismatch("a")));
  CHECK(is_caught_as_error(CollectiveMismatch("a")));
  CHECK(is_caught_as_error(UnreceivedMessage("a")));
  CHECK(is_caught_as_error(BufferReused("a")));
  CHECK(is_caught_as_error(RankFailed("a")));
  CHECK(is_caught_as_error(DeadlockError("a", {}, std::vector<Wait>{}, {})));
}

}  // namespace
}  // namespace rankbox
