// Progress in a log.
#include "cli/grade/progress.h"

#include <vector>

#include <doctest/doctest.h>

namespace rankbox::cli {

TEST_CASE("a log has a line at most every 10 s, if more is done and not all is") {
  struct Row {
    double seconds;
    std::size_t done;
    bool is_due;
  };
  const std::vector<std::vector<Row>> runs = {
      {},
      {{0, 0, false}, {0.2, 3, false}, {9.9, 20, false}},                    // ends sooner
      {{9.9, 3, false}, {10, 3, true}, {10.2, 4, false}, {19.9, 9, false}},  // 10 s apart
      {{10, 1, true}, {20, 1, false}, {27, 2, true}, {36, 3, false}, {37, 3, true}},
      {{11, 0, false}, {12, 1, true}},     // nothing is done at first
      {{11, 199, true}, {22, 200, false}}  // all is done: the report follows
  };
  for (std::size_t run = 0; run < runs.size(); ++run) {
    LogPace pace;
    for (const Row& row : runs[run]) {
      CAPTURE(run);
      CAPTURE(row.seconds);
      CHECK(pace.is_due(row.seconds, row.done, 200) == row.is_due);
    }
  }
}

}  // namespace rankbox::cli
