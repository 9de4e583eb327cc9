// The processes that a launcher started together, a rank each: how they find each other, agree on a
// run, and all throw the same error.
//
// One star of control connections (launch/star.h) serves all runs of the process. A run that fails
// stops the star, which is how every process hears of it, wherever it waits; the next run then
// begins with a new one.
//
// Thread safety: one run at a time; fail() and is_failing() from any thread.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rankbox::gpu {

class Processes {
 public:
  /// Meets the others, and chooses this process's GPU. Where processes would share one, either
  /// refuses in check_members(), or, with RANKBOX_NCCL_SHARE_GPU=1, prepares NCCL for it, which has
  /// to happen before NCCL is called for the first time.
  /// Throws what launcher::Star throws. REQUIRES: launched().
  /// @param seconds that the others may take to come
  explicit Processes(double seconds);
  ~Processes();

  int rank() const;
  int world_size() const;

  /// Before a run of so many ranks, called by all processes, whether they are in it or not. Throws
  /// the same on all of them: InvalidArgument if they do not agree or two members share a GPU, or the
  /// error of the first member that has none.
  /// @param seconds that the others may take to come
  void check_members(int world_size, double seconds);

  /// The device of this process's rank. REQUIRES: check_members() has returned.
  int device() const;
  /// [rank] of a world of that size.
  std::vector<int> nodes(int world_size) const;

  /// What rank 0's `make` returns, for all processes: the id of a new NCCL world.
  std::string share_id(const std::function<std::string()>& make);

  /// This process's rank fails: tells all the others, unless that is only because another one did.
  void fail(int rank, const std::exception_ptr& failure) noexcept;
  /// Whether some process has failed. Never blocks.
  bool is_failing();
  /// Why: an error of the class that was thrown there. Null while none has.
  std::exception_ptr failure();

  /// The end of a run, called by all: waits for the others, for as long as they run. Returns what
  /// each brought, by rank. Throws the run's first failure, the same everywhere.
  std::vector<std::string> conclude(const std::string& mine);

 private:
  struct Inside;  // keeps launch/ out of here: see gpu/launched.h
  std::unique_ptr<Inside> inside_;
};

}  // namespace rankbox::gpu
