// Worlds on a chosen number of emulated GPUs, in a chosen mode, for tests.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "comm/run_ranks.h"
#include "gpu/device/check.h"
#include "tests/gpu/emulation/cuda_control.h"

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

inline std::string words_of(const std::exception_ptr& error) {
  if (error == nullptr) return "nothing was thrown";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return known.what();
  }
}

template <class E>
bool is_a(const std::exception_ptr& error) {
  if (error == nullptr) return false;
  try {
    std::rethrow_exception(error);
  } catch (const E&) {
    return true;
  } catch (...) {
    return false;
  }
}

inline bool says(const std::exception_ptr& error, const std::string& part) {
  return words_of(error).find(part) != std::string::npos;
}

}  // namespace rankbox::gpu
