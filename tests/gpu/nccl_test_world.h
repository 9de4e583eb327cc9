// A world on NCCL with one thread per rank, and arrays on its devices, for tests.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "comm/dtype.h"
#include "comm/errors.h"
#include "comm/slice.h"
#include "gpu/communicator.h"
#include "gpu/device/devices.h"
#include "gpu/device/rank_device.h"
#include "gpu/nccl/failure.h"
#include "gpu/nccl/run.h"
#include "gpu/nccl/world.h"

namespace rankbox::gpu {

/// An array on the device of this thread's rank, filled with host numbers.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& host)
      : size_(static_cast<std::int64_t>(host.size())), memory_(bytes()) {
    copy(memory_.data, host.data(), cudaMemcpyHostToDevice);
  }

  operator Slice() const { return {memory_.data, size_, dtype_of<T>(), false, 0}; }

  /// Waits for the stream, as to_host() of a tensor.
  std::vector<T> to_host() const {
    std::vector<T> host(static_cast<std::size_t>(size_));
    copy(host.data(), memory_.data, cudaMemcpyDeviceToHost);
    return host;
  }

 private:
  // A separate class, so that the memory is released even if the constructor throws.
  struct Memory {
    explicit Memory(std::int64_t bytes) : gpu(*current_rank_device()), data(gpu.allocate(bytes)) {}
    ~Memory() { gpu.release(data); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    RankDevice& gpu;
    void* data;
  };

  std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(sizeof(T)); }
  void copy(void* to, const void* from, cudaMemcpyKind kind) const {
    if (size_ == 0) return;
    RankDevice& gpu = memory_.gpu;
    gpu.synchronize(30, {.op = "to_host"});
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes()), kind, gpu.stream()),
          "cudaMemcpyAsync");
    gpu.synchronize(30, {.op = "to_host"});
  }

  std::int64_t size_;
  Memory memory_;
};

/// The outcome of a run.
struct NcclRun {
  std::vector<std::exception_ptr> failures;  // [rank] null: it completed
  std::exception_ptr cause;                  // the run's exception; null: all completed
  std::vector<RankEnd> ends;                 // of the local ranks
  double seconds = 0;

  /// Returns the error's context; empty for other exceptions.
  ErrorContext context() const { return context_in(cause); }
  ErrorContext context_of(int rank) const {
    return context_in(failures[static_cast<std::size_t>(rank)]);
  }
  std::string what(int rank) const { return words(failures[static_cast<std::size_t>(rank)]); }
  std::string what() const { return words(cause); }
  template <class E>
  bool is(int rank) const {
    return is_a<E>(failures[static_cast<std::size_t>(rank)]);
  }
  template <class E>
  bool is_cause() const {
    return is_a<E>(cause);
  }

  static ErrorContext context_in(const std::exception_ptr& failure) {
    if (failure == nullptr) return {};
    try {
      std::rethrow_exception(failure);
    } catch (const Error& error) {
      return error.context();
    } catch (...) {
      return {};
    }
  }
  static std::string words(const std::exception_ptr& failure) {
    if (failure == nullptr) return "";
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      return error.what();
    }
  }
  template <class E>
  static bool is_a(const std::exception_ptr& failure) {
    if (failure == nullptr) return false;
    try {
      std::rethrow_exception(failure);
    } catch (const E&) {
      return true;
    } catch (...) {
      return false;
    }
  }
};

/// Runs body(dist) on every local rank: rank r on device r, or on devices[r].
inline NcclRun run_on_nccl(const NcclSettings& settings,
                           const std::function<void(Communicator&)>& body,
                           std::vector<int> devices = {}) {
  const auto start = std::chrono::steady_clock::now();
  NcclWorld world(settings);
  if (devices.empty()) devices = world.settings().local_ranks;
  const NcclOutcome outcome = run_on_nccl(world, devices, body);
  NcclRun run;
  run.failures.resize(static_cast<std::size_t>(settings.world_size));
  for (const RankEnd& end : outcome.ends)
    run.failures[static_cast<std::size_t>(end.rank)] = end.failure;
  run.cause = failure_of(outcome.ends, settings.world_size, world.cause());
  run.ends = outcome.ends;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

/// The ranks' mistakes: doctest's macros are for the main thread.
class Mistakes {
 public:
  void expect(bool holds, const std::string& what) {
    if (holds) return;
    const std::lock_guard guard(lock_);
    if (found_.size() < 2000) found_ += what + "\n";
  }
  template <class T>
  void expect_equal(const std::vector<T>& got, const std::vector<T>& expected,
                    const std::string& what) {
    if (got == expected) return;
    const auto text = [](const std::vector<T>& values) {
      std::string all;
      for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 12); ++i) {
        all += std::to_string(static_cast<double>(values[i])) + " ";
      }
      return all;
    };
    expect(false, what + ": got " + text(got) + "instead of " + text(expected));
  }
  const std::string& found() const { return found_; }

 private:
  std::mutex lock_;
  std::string found_;
};

}  // namespace rankbox::gpu
