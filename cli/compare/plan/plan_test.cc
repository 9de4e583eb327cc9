// Failures of learners' rows: kinds and messages.
#include "cli/compare/plan/plan.h"

#include <doctest/doctest.h>

#include "tests/support/text.h"

namespace rankbox::cli {

namespace {

const ErrorContext kPlace = {1, "send", 0, "ring.cc", 14};

TEST_CASE("errors have the kinds of check --json, and their place") {
  const auto kind = [](const Error& error) { return row_failure_of(error).kind; };
  CHECK(kind(NotImplemented("ring", kPlace)) == "not_implemented");
  CHECK(kind(DeadlockError("d", kPlace, {}, {})) == "deadlock");
  CHECK(kind(TimedOut("t", kPlace)) == "timeout");
  CHECK(kind(MessageMismatch("m", kPlace)) == "mismatch");
  CHECK(kind(CollectiveMismatch("m", kPlace)) == "mismatch");
  CHECK(kind(UnreceivedMessage("u", kPlace)) == "unreceived");
  CHECK(kind(OutOfMemory("o", kPlace)) == "memory");
  CHECK(kind(BufferReused("b", kPlace)) == "safety");
  CHECK(kind(RankFailed("r", kPlace)) == "crash");
  const RowFailure failure = row_failure_of(TimedOut("first\nsecond", kPlace));
  CHECK(failure.message == "first");
  CHECK(failure.file == "ring.cc");
  CHECK(failure.line == 14);
}

TEST_CASE("only the learner's rows fail for a wrong result") {
  for (const Whose whose : {Whose::kNative, Whose::kReference, Whose::kYours}) {
    Row row;
    row.whose = whose;
    fail_if_wrong(row);
    CHECK_FALSE(row.failure.has_value());  // not checked
    row.wrong = 0;
    fail_if_wrong(row);
    CHECK_FALSE(row.failure.has_value());
    row.wrong = 3;
    fail_if_wrong(row);
    CHECK(row.failure.has_value() == (whose == Whose::kYours));
  }
}

TEST_CASE("words say kind, message and place once each") {
  CHECK(in_words({"crash", "boom", "a.cc", 3}) == "crash: boom at a.cc:3");
  CHECK(in_words({"deadlock", "deadlock: ranks 0, 1", "a.cc", 3}) ==
        "deadlock: ranks 0, 1 at a.cc:3");
  CHECK(in_words({"mismatch", "sizes differ: a.cc:3", "a.cc", 3}) ==
        "mismatch: sizes differ: a.cc:3");
  CHECK(in_words({"values", "3 elements", "", 0}) == "values: 3 elements");
}

TEST_CASE("a user's mistake stays one, with the row named") {
  Row row;
  row.algorithm = "ring";
  row.world_size = 4;
  row.bytes = 1024;
  CHECK_THROWS_AS(rethrow_naming(InvalidArgument("too large"), row), InvalidArgument);
  try {
    rethrow_naming(Error("oh"), row);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(testing::lacks(error.what(), {"all_reduce ring", "4 ranks", "1 KiB", "oh"}) == "");
  }
}

}  // namespace

}  // namespace rankbox::cli
