// From an error, a difference or a cost to a failure with rank, call and place.
#pragma once

#include <exception>
#include <optional>

#include "comm/run_options.h"
#include "verdict/subject.h"
#include "verdict/verdict.h"

namespace rankbox {

/// The kind follows from the type; rank, peer, op and place are those of Error::context().
Failure failure_of(const std::exception& error);

/// Points to the last message that `rank` received, or else to its last event: the likely origin of
/// a wrong value.
Failure failure_of(const Difference& difference, int rank, const Case& example, const Trace& trace);

/// A native collective that the subject may not call: the first that moves data, or else the first
/// barrier, which fails safety unless the subject stands for it. Nothing if the trace holds
/// neither.
std::optional<Failure> failure_of_native(const Trace& trace, const Case& example,
                                         const Subject& subject);

/// A cost that is not the promised one. Points to the last event of the busiest rank.
Failure failure_of_cost(const Cost& expected, const Case& example, const RunReport& report);

/// "7 steps, 7 n bytes, 0 n reduced", in units of the n bytes of a tensor of `count` elements.
std::string in_words(const Cost& cost, const Case& example);

}  // namespace rankbox
