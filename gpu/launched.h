// Whether a launcher started this process together with others.
//
// Beside launch/rank_variables.h because of a name: launch/ has a namespace of the name that
// comm/run_ranks.h has a function of, and the two must not meet in one source file.
#pragma once

#include <optional>
#include <string>

namespace rankbox::gpu {

/// A process among several that a launcher started together.
struct Launched {
  int rank = 0;
  int world_size = 1;
  int local_rank = -1;   // -1: the launcher does not tell
  std::string launcher;  // "torchrun"
};

/// Nothing where this process is alone, also if a launcher said so: then its ranks are threads. Throws
/// InvalidArgument for variables that are wrong. Looks at them once.
const std::optional<Launched>& launched();

}  // namespace rankbox::gpu
