// The executor of a test's ranks, which main() changes between two runs of all test cases.
#pragma once

#include "comm/run_options.h"

namespace rankbox::testing {

inline ExecutorKind current_executor = ExecutorKind::kThreads;

}  // namespace rankbox::testing
