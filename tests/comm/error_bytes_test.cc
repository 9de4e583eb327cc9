// Errors that travel from process to process.
#include "comm/error_bytes.h"

#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace rankbox {
namespace {

std::exception_ptr there_and_back(const std::exception_ptr& error) {
  return error_from_bytes(error_to_bytes(error));
}

/// Calls check(error) with what is thrown, if it is an E and not of a class derived from it.
template <class E, class Check>
void expect(const std::exception_ptr& thrown, Check check) {
  try {
    std::rethrow_exception(thrown);
  } catch (const E& error) {
    CHECK(typeid(error) == typeid(E));
    check(error);
  } catch (...) {
    FAIL_CHECK("another class was expected");
  }
}

TEST_CASE_TEMPLATE("every class of error arrives as itself, with its words and its context", E,
                   Error, InvalidArgument, OutOfMemory, NotImplemented, Aborted, MessageMismatch,
                   CollectiveMismatch, UnreceivedMessage, BufferReused, TimedOut, RankFailed) {
  const std::string words = "rank 3, recv at ring.cc:42: two lines\nand \0 a zero";
  const E sent(words, {3, "recv", 5, "ring.cc", 42});
  expect<E>(there_and_back(std::make_exception_ptr(sent)), [&](const E& arrived) {
    CHECK(std::string(arrived.what()) == words);
    CHECK(arrived.rank() == 3);
    CHECK(arrived.op() == "recv");
    CHECK(arrived.peer() == 5);
    CHECK(arrived.file() == "ring.cc");
    CHECK(arrived.line() == 42);
  });
}

TEST_CASE("a deadlock brings its waits and its cycle along") {
  const DeadlockError sent(
      "deadlock: …", {0, "send", 1, "a.cc", 1},
      {{0, "send", {1}, 4, "a.cc", 1}, {1, "barrier", {2, 0}, 1ll << 40, "b.cc", 2}}, {0, 1},
      {"an-id", "a text"});
  expect<DeadlockError>(there_and_back(std::make_exception_ptr(sent)),
                        [&](const DeadlockError& arrived) {
                          CHECK(std::string(arrived.what()) == "deadlock: …");
                          CHECK(arrived.op() == "send");
                          REQUIRE(arrived.waits().size() == 2);
                          const Wait& wait = arrived.waits()[1];
                          CHECK(wait.rank == 1);
                          CHECK(wait.op == "barrier");
                          CHECK(wait.peers == std::vector<int>{2, 0});
                          CHECK(wait.bytes == 1ll << 40);
                          CHECK(wait.file == "b.cc");
                          CHECK(wait.line == 2);
                          CHECK(arrived.cycle() == std::vector<int>{0, 1});
                          CHECK(arrived.hint().id == "an-id");
                          CHECK(arrived.hint().text == "a text");
                        });
}

/// As a backend may have of its own.
class DeviceError : public Error {
  using Error::Error;
};
class DeviceTooSlow : public TimedOut {
  using TimedOut::TimedOut;
};

TEST_CASE("a class of a backend's own arrives as what it was derived from") {
  expect<Error>(
      there_and_back(std::make_exception_ptr(DeviceError("broken", {2, "send", -1, "", 0}))),
      [](const Error& arrived) {
        CHECK(std::string(arrived.what()) == "broken");
        CHECK(arrived.rank() == 2);
      });
  expect<TimedOut>(there_and_back(std::make_exception_ptr(DeviceTooSlow("slow"))),
                   [](const TimedOut& arrived) { CHECK(std::string(arrived.what()) == "slow"); });
}

TEST_CASE("what is no Rankbox error arrives as RankFailed, in its own words if it has any") {
  expect<RankFailed>(there_and_back(std::make_exception_ptr(std::out_of_range("index 7"))),
                     [](const RankFailed& arrived) {
                       CHECK(std::string(arrived.what()).find("index 7") != std::string::npos);
                     });
  expect<RankFailed>(there_and_back(std::make_exception_ptr(42)), [](const RankFailed& arrived) {
    CHECK_FALSE(std::string(arrived.what()).empty());
  });
}

TEST_CASE("an error with another one nested in it arrives without") {
  std::exception_ptr nested;
  try {
    try {
      throw std::runtime_error("inner");
    } catch (...) {
      std::throw_with_nested(RankFailed("rank 1 failed: inner", {1, "", -1, "", 0}));
    }
  } catch (...) {
    nested = std::current_exception();
  }
  expect<RankFailed>(there_and_back(nested), [](const RankFailed& arrived) {
    CHECK(std::string(arrived.what()) == "rank 1 failed: inner");
    CHECK(arrived.rank() == 1);
  });
}

TEST_CASE("bytes that are cut short, or are something else, are refused") {
  const DeadlockError sent("deadlock", {0, "send", 1, "a.cc", 1}, {{0, "send", {1}, 4, "a.cc", 1}},
                           {0});
  const std::string bytes = error_to_bytes(std::make_exception_ptr(sent));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(error_from_bytes(bytes.substr(0, size)), std::runtime_error);
  }
  std::string renamed = bytes;
  renamed.replace(renamed.find("Deadlock"), 4, "Liar");
  CHECK_THROWS_AS(error_from_bytes(renamed), std::runtime_error);
}

}  // namespace
}  // namespace rankbox
