// Conversion of a rank's exception to the one that run_ranks throws.
#pragma once

#include <exception>
#include <string>

namespace rankbox {

/// Rankbox errors stay as they are, with the rank set if there was none; all others are nested in
/// RankFailed.
/// REQUIRES: `failure` is not null.
std::exception_ptr with_rank(std::exception_ptr failure, int rank);

/// The message of what was thrown.
/// REQUIRES: `failure` is not null.
std::string what_of(const std::exception_ptr& failure);

}  // namespace rankbox
