// Lists of cases, from small to large. They vary with the salt (salt.h).
#pragma once

#include <vector>

#include "judge/case.h"

namespace rankbox {

/// Returns 1 to 17: powers of two, their neighbours, and all sizes in between. Under a salt also
/// one from 18 to 24.
std::vector<int> world_sizes();

/// Returns sizes with empty, uneven or large chunks: 0, 1, 2, p-1, p, p+1, 97, and for a few
/// world sizes 4096. A salt draws others than the last two. Worlds of more than 17 ranks have two
/// sizes only.
std::vector<std::int64_t> counts(int world_size);

/// Returns a number of ranks that 64 bits, six rounds and the like do not cover, for
/// Subject::far_cases: 70, or under a salt one from 66 to 80.
int far_world();

/// Returns a case of that many ranks on several nodes, with a count that they do not divide.
Case far_case();

/// Returns a number of elements that 16 bits do not count: 100,003, or under a salt another one.
std::int64_t far_count();

/// Returns a number of segments that 8 bits do not hold: 300, or under a salt another one.
int far_segments();

/// Returns the number of steps of a training with many messages a step: 20, and 4 in worlds of more
/// than four ranks, where a step takes longest.
int steps_of_training(int world_size);

/// Returns every world size combined with each of these cases.
std::vector<Case> cases_with_each(const std::vector<Case>& some);

/// Returns every world size with every count.
std::vector<Case> cases_by_count();

/// As cases_by_count, with every root as well. Worlds of more than five ranks have every root for
/// one count, and the first, second, middle and last root for the others.
std::vector<Case> cases_by_root();

/// Returns every world size with every count and every operation.
std::vector<Case> cases_by_op();

/// Returns every root as above, each with at least one operation, and every operation with each
/// count.
std::vector<Case> cases_by_root_and_op();

}  // namespace rankbox
