// Worlds on a chosen number of emulated GPUs, in a chosen mode, for tests.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "comm/run_ranks.h"
#include "gpu/device/check.h"
#include "tests/gpu/emulation/cuda_control.h"
#include "tests/support/thrown.h"

namespace rankbox::gpu {

/// Sets RANKBOX_GPU_MODE and the number of GPUs for its lifetime.
class Setting {
 public:
  Setting(int gpus, const std::string& mode) {
    emulation::set_device_count(gpus);
    setenv("RANKBOX_GPU_MODE", mode.c_str(), 1);
    setenv("RANKBOX_GPU_NOTICE", "0", 1);
  }
  ~Setting() {
    unsetenv("RANKBOX_GPU_MODE");
    emulation::set_device_count(1);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
};

/// Blocks later work on the stream until the flag is set.
inline void hold(cudaStream_t stream, const std::shared_ptr<std::atomic<bool>>& go_on) {
  check(emulation::enqueue(stream,
                           [go_on] {
                             while (!*go_on && !emulation::exiting())
                               std::this_thread::sleep_for(std::chrono::milliseconds(1));
                           }),
        "enqueue");
}

/// Returns the run's exception; null if there was none.
inline std::exception_ptr thrown_by(const RunOptions& options,
                                    const std::function<void(Comm&)>& body) {
  try {
    run_world(options, body);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

template <class E>
bool is_a(const std::exception_ptr& error) {
  return testing::error_as<E>(error).has_value();
}

inline bool says(const std::exception_ptr& error, const std::string& part) {
  return testing::contains(testing::what_of(error), part);
}

/// Calls everything that moves data or computes, once, on tensors of `count` elements.
inline void use_everything(Comm& dist, std::int64_t count) {
  const int p = dist.world_size();
  const int next = (dist.rank() + 1) % p;
  const int prev = (dist.rank() + p - 1) % p;
  Tensor mine = full(count, 1.0f);
  Tensor theirs = zeros(count);
  Tensor all = zeros(count * p);
  Tensor chunks = empty_like(all);
  dist.sendrecv(mine, next, theirs, prev);
  dist.wait_all({dist.isend(mine, next), dist.irecv(theirs, prev)});
  dist.broadcast(theirs, 0);
  dist.reduce(theirs, p - 1, ReduceOp::MAX);
  dist.wait(dist.all_reduce_async(mine, ReduceOp::AVG));
  dist.all_gather(mine, all);
  dist.gather(mine, all, 0);
  dist.scatter(all, theirs, 0);
  dist.reduce_scatter(all, theirs, ReduceOp::SUM);
  dist.all_to_all(all, chunks);
  mine += theirs;
  mine *= 2.0f;
  Tensor sum = clone(mine);
  accumulate(sum, theirs, ReduceOp::MAX);
  dist.split(dist.rank() % 2).all_reduce(sum);
  to_host(sum);
}

}  // namespace rankbox::gpu
