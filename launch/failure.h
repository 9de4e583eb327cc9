// Why a world of processes ended: the first cause, which all ranks agree on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankbox::launcher {

struct Failure {
  int rank = -1;       // whose fault it was; -1: nobody's in particular
  std::string reason;  // complete: names the rank, and what to do
};

std::string encode(const Failure& failure);
/// Throws Error for what is none.
Failure decode_failure(std::string_view bytes);

/// "rank 2", "ranks 1, 2 and 5", "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 12 more".
std::string ranks_in_words(const std::vector<int>& ranks);

}  // namespace rankbox::launcher
