// A run of a pipeline, read off its trace, compared with what its schedule promises.
#pragma once

#include <optional>
#include <vector>

#include "comm/run_options.h"
#include "verdict/pipeline/layout.h"
#include "verdict/pipeline/schedule.h"
#include "verdict/subject.h"

namespace rankbox {

/// The first pass of a rank that is another one than promised, is missing, or too much: "4th pass on rank
/// 1: expected backward of micro-batch 0, got forward of micro-batch 3".
std::optional<Difference> compare_order(const std::vector<StagePass>& promised,
                                        const std::vector<StagePass>& actual, int rank,
                                        bool several_chunks);
/// The same of all ranks.
std::optional<Difference> compare_orders(const Trace& trace, const Schedule& schedule,
                                         const Layout& layout);

/// What each rank sends, to whom: so many messages, of so many bytes together.
std::optional<Difference> compare_messages(const Trace& trace, const Layout& layout);

/// The share of the time that ranks had nothing to do in. REQUIRES: a run in which messages were free.
std::optional<Difference> compare_idle(const RunReport& report, const Schedule& schedule,
                                       const Layout& layout);

/// First how many passes were in flight, then the bytes that a rank held whenever it began a pass:
/// besides what was there before, what the passes in flight have left in the stages, and a few
/// messages.
std::optional<Difference> compare_held(const Trace& trace, const Schedule& schedule,
                                       const Layout& layout);

}  // namespace rankbox
