// Runs on NCCL with one thread per rank, and their outcomes, for tests.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "comm/errors.h"
#include "comm/tensor.h"
#include "gpu/communicator.h"
#include "gpu/nccl/failure.h"
#include "gpu/nccl/run.h"
#include "gpu/nccl/world.h"
#include "tests/support/thrown.h"

namespace rankbox::gpu {

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
    const auto error = testing::error_as<Error>(failure);
    return error ? error->context() : ErrorContext();
  }
  static std::string words(const std::exception_ptr& failure) {
    return failure == nullptr ? "" : testing::what_of(failure);
  }
  template <class E>
  static bool is_a(const std::exception_ptr& failure) {
    return testing::error_as<E>(failure).has_value();
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
  /// Waits for the stream.
  void expect_equal(const Tensor& tensor, const std::vector<float>& expected,
                    const std::string& what) {
    const std::vector<float> got = to_host(tensor);
    if (got == expected) return;
    const auto text = [](const std::vector<float>& values) {
      std::string all;
      for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 12); ++i)
        all += std::to_string(values[i]) + " ";
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
