// Conversion of a rank's exception to the one that run_ranks throws.
#pragma once

#include <exception>

namespace rankbox {

/// Rankbox errors stay as they are, with the rank set if there was none; all others are nested in
/// RankFailed.
/// REQUIRES: `failure` is not null.
std::exception_ptr with_rank(std::exception_ptr failure, int rank);

}  // namespace rankbox
