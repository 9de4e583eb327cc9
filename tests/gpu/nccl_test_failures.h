// Runs on emulated GPUs that must leave nothing behind, and expected texts, for tests of failures.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/gpu/emulation/cuda_control.h"
#include "tests/gpu/emulation/nccl_control.h"
#include "tests/gpu/nccl_test_world.h"

namespace rankbox::gpu {

using testing::contains;

inline Tensor some(std::int64_t count) { return full(count, 1.0f); }

inline int line(Place place = Place::current()) { return static_cast<int>(place.line()); }

/// Returns how a message names a line of the calling test.
inline std::string in_this_file(int at, Place place = Place::current()) {
  const std::string path = place.file_name();
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(at);
}

/// Runs on up to eight GPUs, and checks that nothing of the run is left, but for the workspaces of
/// cuBLAS, which the next run uses.
inline NcclRun run(const NcclSettings& settings, const std::function<void(Communicator&)>& body,
                   const std::vector<int>& devices = {}) {
  emulation::set_device_count(8);
  const std::int64_t frees = emulation::blocking_calls_amid_communication();
  NcclRun result = run_on_nccl(settings, body, devices);
  CHECK(emulation::live_nccl_communicators() == 0);
  CHECK(emulation::running_nccl_operations() == 0);
  CHECK(emulation::blocking_calls_amid_communication() == frees);
  CHECK(emulation::memory_in_use().allocations == emulation::calls_of("cublasCreate"));
  return result;
}

/// Long enough for everything that does not hang, on a busy machine.
inline constexpr double kDeadline = 1;  // seconds

inline NcclSettings ranks(int size) { return {.world_size = size, .deadline_seconds = kDeadline}; }

}  // namespace rankbox::gpu
