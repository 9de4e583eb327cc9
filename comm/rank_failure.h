// What a rank's function threw, as run_ranks throws it.
#pragma once

#include <exception>

namespace rankbox {

/// Rankbox errors as they are, the rank named where none is; all others nested in RankFailed.
/// REQUIRES: `failure` is not null.
std::exception_ptr with_rank(std::exception_ptr failure, int rank);

}  // namespace rankbox
