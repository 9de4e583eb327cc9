#include "sim/executor/executor.h"

#include <fmt/format.h>

#include "comm/errors.h"
#include "sim/executor/fiber_executor.h"
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

std::unique_ptr<Executor> make_executor(ExecutorKind kind, int world_size) {
  switch (kind) {
    case ExecutorKind::kThreads:
      return make_thread_executor(world_size);
    case ExecutorKind::kFibers:
      return make_fiber_executor(world_size);
  }
  fail_unknown(kind);
}

}  // namespace rankbox::sim
