// Compares the trace of a pipeline with the promises of its schedule.
#pragma once

#include <optional>
#include <vector>

#include "comm/run_options.h"
#include "judge/pipeline/layout.h"
#include "judge/pipeline/schedule.h"
#include "judge/subject.h"

namespace rankbox {

/// Returns the first pass of a rank that differs from the promised one, is missing or superfluous:
/// "4th pass on rank 1: expected backward of micro-batch 0, got forward of micro-batch 3".
std::optional<Difference> compare_order(const std::vector<StagePass>& promised,
                                        const std::vector<StagePass>& actual, int rank,
                                        bool several_chunks);
/// As compare_order, for all ranks.
std::optional<Difference> compare_orders(const Trace& trace, const Schedule& schedule,
                                         const Layout& layout);

/// Compares the number and total bytes of the messages between each pair of ranks.
std::optional<Difference> compare_messages(const Trace& trace, const Layout& layout);

/// Compares the idle share of the ranks' time. REQUIRES: messages took no time.
std::optional<Difference> compare_idle(const RunReport& report, const Schedule& schedule,
                                       const Layout& layout);

/// Compares first the number of passes in flight, then the bytes that a rank held when a pass
/// began. Allowed are the bytes before the run, those that the passes in flight keep in the stages,
/// and a few messages.
std::optional<Difference> compare_held(const Trace& trace, const Schedule& schedule,
                                       const Layout& layout);

}  // namespace rankbox
