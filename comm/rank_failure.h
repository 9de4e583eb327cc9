// Conversion of a rank's exception to the one that run_ranks throws.
#pragma once

#include <exception>
#include <string>

namespace rankbox {

/// Returns Rankbox errors unchanged, with the rank set if it was missing; nests all others in
/// RankFailed.
/// REQUIRES: `failure` is not null.
std::exception_ptr with_rank(std::exception_ptr failure, int rank);

/// Returns the message of an exception.
/// REQUIRES: `failure` is not null.
std::string what_of(const std::exception_ptr& failure);

}  // namespace rankbox
