#include "cli/support/executor_named.h"

#include <thread>

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox::cli {

ExecutorKind executor_named(std::string_view text, int world_size) {
  constexpr unsigned kMostRanksOfCore = 16;
  for (const ExecutorKind kind : {ExecutorKind::kThreads, ExecutorKind::kFibers}) {
    if (text == name_of(kind)) return kind;
  }
  if (text != "auto") {
    throw InvalidArgument(fmt::format("--executor \"{}\": choose auto, threads or fibers", text));
  }
  const unsigned cores = std::thread::hardware_concurrency();  // 0: unknown
  const bool is_crowded = cores > 0 && static_cast<unsigned>(world_size) > kMostRanksOfCore * cores;
  return is_crowded ? ExecutorKind::kFibers : ExecutorKind::kThreads;
}

int memory_mb_for(ExecutorKind executor, int world_size) {
  constexpr int kForTensors = 8192;
  return executor == ExecutorKind::kFibers ? kForTensors + world_size / 3 : kForTensors;
}

}  // namespace rankbox::cli
