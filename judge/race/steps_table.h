// The steps of an execution of the exercise `race`, as a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/interleave/operation.h"

namespace rankbox {

struct StepRow {
  int thread = 0;          // 0 is the one that called race()
  std::string what;        // "load   1000"
  std::int64_t value = 0;  // the shared value after the step
  bool overwrote = false;  // this store undid one that came after this thread's load
  const void* code = nullptr;
  int line = 0;  // of the source; 0: unknown
};

/// Returns the steps that say something, without starts, ends and joins. `before` is the number
/// that the value had at first.
std::vector<StepRow> rows_of(const std::vector<interleave::Step>& steps, std::int64_t before);

/// Returns a heading and a line for each row, of at most 80 columns. Two threads have a column
/// each, more share one. Of a long execution only the rows around the first lost update, or the
/// last ones.
std::vector<std::string> steps_table(const std::vector<StepRow>& rows, std::int64_t before);

}  // namespace rankbox
