// Contests in a list of rows, and their winners.
#pragma once

#include <span>

#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

using Rows = std::span<const Row>;

/// Calls visit(Rows) for each contest: consecutive rows of one collective, operation, world size
/// and number of bytes.
template <class Visit>
void for_each_contest(Rows rows, Visit visit) {
  while (!rows.empty()) {
    const Row& first = rows.front();
    std::size_t end = 1;
    while (end < rows.size() && rows[end].collective == first.collective &&
           rows[end].op == first.op && rows[end].world_size == first.world_size &&
           rows[end].bytes == first.bytes) {
      ++end;
    }
    visit(rows.first(end));
    rows = rows.subspan(end);
  }
}

enum class ClockKind { kWall, kVirtual };

/// Returns whether ranks outnumber the cores that run them, so that they take turns.
inline bool shares_cores(const Plan& plan, int world_size) {
  return plan.cores > 0 && world_size > plan.cores;
}

/// Returns the fastest topology, reference or learner's; null unless two or more compete. Ties go
/// to the first.
const Row* winner_of(Rows contest, ClockKind clock);

}  // namespace rankbox::cli
