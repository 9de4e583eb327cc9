#include "sim/executor/executor.h"

#include <fmt/format.h>

#include "comm/errors.h"
#include "sim/executor/fiber_executor.h"
#include "sim/executor/fiber_worker.h"
#include "sim/executor/thread_executor.h"

namespace rankbox::sim {
namespace {

[[noreturn]] void fail_unknown(ExecutorKind kind) {
  throw InvalidArgument(fmt::format("unknown executor {}", static_cast<int>(kind)));
}

}  // namespace

void check_world_size(ExecutorKind kind, int world_size) {
  switch (kind) {
    case ExecutorKind::kThreads:
      return check_thread_world(world_size);
    case ExecutorKind::kFibers:
      return check_fiber_world(world_size);
  }
  fail_unknown(kind);
}

void yield() { FiberWorker::yield(); }

std::unique_ptr<Executor> make_executor(const RunOptions& options) {
  switch (options.executor) {
    case ExecutorKind::kThreads:
      return make_thread_executor(options.world_size);
    case ExecutorKind::kFibers:
      return make_fiber_executor(options.world_size, options.fiber_threads);
  }
  fail_unknown(options.executor);
}

}  // namespace rankbox::sim
