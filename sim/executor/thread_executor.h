// One std::thread per rank: the executor without restrictions.
#pragma once

#include <memory>

#include "sim/executor/executor.h"

namespace rankbox::sim {

/// Throws InvalidArgument for a world of more threads than this machine can run.
void check_thread_world(int world_size);

std::unique_ptr<Executor> make_thread_executor(int world_size);

}  // namespace rankbox::sim
