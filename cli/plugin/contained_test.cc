// What is said of a process that was ended for its time.
#include "cli/plugin/contained.h"

#include <doctest/doctest.h>

#include "tests/support/text.h"

namespace rankbox::cli {

TEST_CASE("a timeout names the time that has passed, and the limit where that is another") {
  struct Row {
    double limit;
    double seconds;  // that it had; 0: another limit ended it
    std::vector<std::string> parts;
  };
  const Row rows[] = {
      {10, 10.1, {"after 10 s: "}},
      {10, 0, {"after 10 s: "}},
      {10, 29.7, {"after 30 s", "limit of 10 s"}},
      {0.5, 2, {"after 2 s", "limit of 0.5 s"}},
  };
  for (const Row& row : rows) {
    ChildResult ended;
    ended.timed_out = true;
    ended.seconds = row.seconds;
    ContainedOptions options;
    options.seconds = row.limit;
    const Failure failure = failure_of_end(ended, options);
    CHECK(failure.kind == FailureKind::kTimeout);
    CHECK(testing::lacks(failure.message, row.parts) == "");
  }
}

}  // namespace rankbox::cli
