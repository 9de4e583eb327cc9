// From what stopped a run to a failure that says who, what and where.
#pragma once

#include <exception>
#include <optional>

#include "comm/run_options.h"
#include "verdict/subject.h"
#include "verdict/verdict.h"

namespace rankbox {

/// The kind follows from the type; rank, peer, op and place are those of Error::context().
Failure failure_of(const std::exception& error);

/// A wrong value on `rank`, or too much memory. Points to the last message that rank received, or else to the last
/// thing it did at all: that is where the value came from.
Failure failure_of(const Difference& difference, int rank, const Case& example, const Trace& trace);

/// A native collective that the subject may not call: one that moves data, or else a barrier, which
/// is a matter of safety unless the subject stands for it. Nothing if the trace holds neither. (A split
/// moves no data, and is everybody's to use.)
std::optional<Failure> failure_of_native(const Trace& trace, const Case& example,
                                         const Subject& subject);

/// A cost that is not the promised one. Points to the last thing that the busiest rank did.
Failure failure_of_cost(const Cost& expected, const Case& example, const RunReport& report);

/// "7 steps, 7 n bytes, 0 n reduced", in units of the n bytes of a tensor of `count` elements.
std::string in_words(const Cost& cost, const Case& example);

}  // namespace rankbox
