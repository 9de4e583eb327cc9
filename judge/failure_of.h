// Converts errors, differences and costs to a failure with rank, call and place.
#pragma once

#include <exception>
#include <optional>

#include "comm/run_options.h"
#include "judge/subject.h"
#include "judge/verdict.h"

namespace rankbox {

/// Takes the kind from the error's type, and rank, peer, op and place from Error::context().
Failure failure_of(const std::exception& error);

/// Points to the last message that `rank` received, or else to its last event: the likely origin of
/// a wrong value.
Failure failure_of(const Difference& difference, int rank, const Case& example, const Trace& trace);

/// Returns the failure for a native collective that the subject may not call: the first that moves
/// data, or else the first barrier. A barrier fails safety unless the subject is the barrier
/// exercise. Returns nothing if the trace has neither.
std::optional<Failure> failure_of_native(const Trace& trace, const Case& example,
                                         const Subject& subject);

/// Returns the failure for a split after a rank's first message, or in the barrier exercise: it
/// waits for all ranks, as a barrier does. Returns nothing if the subject may do that, and for
/// cases of several steps.
std::optional<Failure> failure_of_split(const Trace& trace, const Case& example,
                                        const Subject& subject);

/// Returns the failure for a cost other than the promised one. Points to the subject's culprit, or
/// else to the last event of the busiest rank.
Failure failure_of_cost(const Cost& expected, const Case& example, const RunReport& report,
                        const Subject& subject);

/// Returns the unit of the subject's costs.
CostUnit unit_of(const Subject& subject, const Case& example);

/// Returns "7 steps, 7 n bytes, 0 n reduced".
std::string in_words(const Cost& cost, const CostUnit& unit);

/// Returns "world_size=2,count=97; n = 388 bytes, 97 elements".
std::string in_words(const Case& example, const CostUnit& unit);

}  // namespace rankbox
