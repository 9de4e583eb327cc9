// What a GPU has few of, or does late: hardware queues, kernels at once, code that is not loaded
// yet; and CUDA calls that fail.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "gpu/device/rank_device.h"
#include "tests/gpu/emulation/nccl_control.h"
#include "tests/gpu/nccl_test_failures.h"

namespace rankbox::gpu {
namespace {

/// Calls undo() at the end of a scope.
template <class Undo>
class After {
 public:
  explicit After(Undo undo) : undo_(undo) {}
  ~After() { undo_(); }
  After(const After&) = delete;
  After& operator=(const After&) = delete;

 private:
  Undo undo_;
};

/// Splits the world `count` times, into parts of all ranks.
std::vector<Communicator> parts_of(Communicator& dist, int count) {
  std::vector<Communicator> parts;
  for (int i = 0; i < count; ++i) parts.push_back(dist.split(0));
  return parts;
}

TEST_CASE("communicators whose streams are idle take no hardware queue from others") {
  const After restore([] { emulation::set_hardware_queues(32); });
  for (int other = 1; other < 6; ++other) {
    emulation::set_hardware_queues(4);
    Mistakes mistakes;
    const NcclRun result = run(ranks(2), [&](Communicator& dist) {
      std::vector<Communicator> parts = parts_of(dist, 6);
      Communicator& first = parts[0];
      Communicator& second = parts[static_cast<std::size_t>(other)];
      Tensor a = full(4, 1.0f);
      Tensor b = full(4, 2.0f);
      // In another order on each rank: each waits on a stream, and may not hold up the other.
      if (dist.rank() == 0) {
        dist.wait_all({first.all_reduce_async(a), second.all_reduce_async(b)});
      } else {
        dist.wait_all({second.all_reduce_async(b), first.all_reduce_async(a)});
      }
      mistakes.expect_equal(a, std::vector<float>(4, 2.0f), "a");
      mistakes.expect_equal(b, std::vector<float>(4, 4.0f), "b");
    });
    CAPTURE(other);
    CHECK(result.what() == "");
    CHECK(mistakes.found() == "");
  }
}

TEST_CASE("more collectives at once than a GPU has room for end if two ranks have one in common") {
  const After restore([] { emulation::set_resident_kernels(0); });
  emulation::set_resident_kernels(3);
  for (const int parts : {4, 8}) {
    CAPTURE(parts);
    const NcclRun result = run(ranks(2), [&](Communicator& dist) {
      std::vector<Communicator> all = parts_of(dist, parts);
      std::vector<Tensor> sums;
      for (int i = 0; i < parts; ++i) sums.push_back(full(4, 1.0f));
      std::vector<Communicator::Request> requests;
      for (int i = 0; i < parts; ++i) {
        const auto at = static_cast<std::size_t>(dist.rank() == 0 ? i : parts - 1 - i);
        requests.push_back(all[at].all_reduce_async(sums[at]));
        // The first three of eight are on the GPU, before the others are called.
        while (parts == 8 && i == 2 && emulation::running_nccl_operations() < 6)
          std::this_thread::yield();
      }
      dist.wait_all(requests);
      dist.synchronize();
    });
    INFO(result.what());
    // With eight, the three of rank 0 and the three of rank 1 have none in common.
    CHECK(result.is_cause<TimedOut>() == (parts == 8));
    CHECK((result.what() == "") == (parts == 4));
  }
}

TEST_CASE("no kernel of a tensor's arithmetic is loaded while a rank communicates") {
  const After restore([] { emulation::load_kernels_at_first_launch(false); });
  emulation::load_kernels_at_first_launch(true);
  std::atomic<bool> launched{false};
  const NcclRun result = run({.world_size = 2, .deadline_seconds = 60}, [&](Communicator& dist) {
    Tensor sum = full(4, 1.0f);
    if (dist.rank() == 1) {
      while (!launched) std::this_thread::yield();
      dist.wait(dist.all_reduce_async(sum));
      return;
    }
    const After go_on([&] { launched = true; });
    const auto reduced = dist.all_reduce_async(sum);  // on this GPU until rank 1 takes part
    const auto compute = [&]<class T>(T one) {
      TensorOf<T> a = full<T>(40, one);
      const TensorOf<T> b = clone(a);
      for (const ReduceOp op : kReduceOps) {
        accumulate(a, b, op);
        accumulate(Slice(a).sub(1, 3), Slice(b).sub(2, 4),
                   op);  // apart from a 16-byte boundary, and unlike
      }
      a *= one;
      a /= one;
    };
    compute(1.0f);
    compute(1.0);
    compute(std::int32_t{1});
    compute(std::int64_t{1});
    compute(Float16(1.0f));
    compute(BFloat16(1.0f));
    launched = true;
    dist.wait(reduced);
  });
  CHECK(result.what() == "");
}

TEST_CASE("a CUDA call that fails over NCCL ends the run with its error, wherever it was") {
  for (const char* call :
       {"cudaEventRecord", "cudaStreamWaitEvent", "cudaStreamCreateWithFlags", "cudaStreamQuery",
        "cudaEventQuery", "cudaMemcpyAsync", "cudaMemsetAsync", "cudaMallocAsync",
        "cudaLaunchKernelEx", "cudaSetDevice", "cudaPointerGetAttributes"}) {
    for (const int skip : {0, 1, 2, 4, 7, 12}) {
      const std::string name = call;
      CAPTURE(name);
      CAPTURE(skip);
      emulation::set_device_count(8);
      const Tensor outside = full(8, 1.0f);
      emulation::fail_next(call, cudaErrorUnknown, skip);
      const NcclRun result =
          run_on_nccl({.world_size = 3, .deadline_seconds = 60}, [&](Communicator& dist) {
            Tensor mine = full(8, 1.0f), theirs = zeros(8);
            const int next = (dist.rank() + 1) % 3, prev = (dist.rank() + 2) % 3;
            dist.sendrecv(mine, next, theirs, prev);
            dist.wait_all({dist.isend(mine, next), dist.irecv(theirs, prev)});
            copy(mine, outside);
            dist.wait(dist.all_reduce_async(mine));
            Communicator half = dist.split(dist.rank() % 2);
            half.broadcast(mine, 0);
            to_host(mine);
          });
      const bool fired = !emulation::fail_next(call, cudaSuccess);
      INFO(result.what());
      CHECK(emulation::live_nccl_communicators() == 0);
      // NCCL makes such calls, too.
      CHECK(fired == (result.is_cause<CudaError>() || result.is_cause<NcclError>()));
      if (result.is_cause<CudaError>())
        CHECK(contains(result.what(), name + " failed: cudaErrorUnknown"));
    }
  }
}

}  // namespace
}  // namespace rankbox::gpu
