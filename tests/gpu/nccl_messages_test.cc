// Messages on NCCL, real or emulated, on all GPUs, up to eight.
#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "gpu/kernels/kernels.h"
#include "tests/gpu/nccl_test_world.h"
#include "tests/support/run_tests.h"

namespace rankbox::gpu {
namespace {

using Floats = DeviceArray<float>;

std::vector<int> world_sizes() {
  std::vector<int> sizes;
  for (int size = 1; size <= std::min(device_count(), 8); ++size) sizes.push_back(size);
  return sizes;
}

/// Returns `count` numbers that identify rank and element.
std::vector<float> numbers(int rank, int count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), static_cast<float>(1000 * rank + 1));
  return values;
}

std::vector<float> nothing(int count) {
  return std::vector<float>(static_cast<std::size_t>(count), -1);
}

/// Calls body(dist, expect_equal) on every rank of every world of at least `smallest`.
template <class Body>
void in_all_worlds(int smallest, Body body) {
  if (device_count() < smallest) return testing::pass_over("fewer GPUs than ranks");
  for (const int size : world_sizes()) {
    if (size < smallest) continue;
    CAPTURE(size);
    Mistakes mistakes;
    const NcclRun run = run_on_nccl({.world_size = size, .deadline_seconds = 20},
                                    [&](Communicator& dist) { body(dist, mistakes); });
    CHECK(run.what() == "");
    CHECK(mistakes.found() == "");
  }
}

TEST_CASE("who and where") {
  in_all_worlds(1, [](Communicator& dist, Mistakes& mistakes) {
    mistakes.expect(dist.rank() >= 0 && dist.rank() < dist.world_size(), "rank");
    mistakes.expect(dist.node() == 0, "node");
    mistakes.expect(dist.local_rank() == dist.rank(), "local rank");
    dist.compute(1.0);
    dist.synchronize();
  });
}

TEST_CASE("nodes are those of the settings") {
  if (device_count() < 3) return testing::pass_over("fewer than 3 GPUs");
  Mistakes mistakes;
  const NcclRun run = run_on_nccl({.world_size = 3, .nodes = {0, 1, 1}}, [&](Communicator& dist) {
    mistakes.expect(dist.node() == (dist.rank() == 0 ? 0 : 1), "node");
    mistakes.expect(dist.local_rank() == (dist.rank() == 2 ? 1 : 0), "local rank");
  });
  CHECK(run.what() == "");
  CHECK(mistakes.found() == "");
}

TEST_CASE("send and recv: a chain through all ranks, of any size") {
  in_all_worlds(2, [](Communicator& dist, Mistakes& mistakes) {
    for (const int count : {0, 1, 7, 1000}) {
      Floats data(dist.rank() == 0 ? numbers(3, count) : nothing(count));
      if (dist.rank() > 0) dist.recv(data, dist.rank() - 1);
      if (dist.rank() + 1 < dist.world_size()) dist.send(data, dist.rank() + 1);
      mistakes.expect_equal(data.to_host(), numbers(3, count), "chain");
    }
  });
}

TEST_CASE("messages of a pair arrive in the order of the calls") {
  in_all_worlds(2, [](Communicator& dist, Mistakes& mistakes) {
    for (int i = 0; i < 20; ++i) {
      Floats data(dist.rank() == 0 ? numbers(i, 3) : nothing(3));
      if (dist.rank() == 0) dist.send(data, 1);
      if (dist.rank() == 1) {
        dist.recv(data, 0);
        mistakes.expect_equal(data.to_host(), numbers(i, 3), "message");
      }
    }
  });
}

TEST_CASE("sendrecv: around the ring, to oneself, and of different sizes") {
  in_all_worlds(1, [](Communicator& dist, Mistakes& mistakes) {
    const int p = dist.world_size();
    const int next = (dist.rank() + 1) % p;
    const int prev = (dist.rank() + p - 1) % p;
    const Floats out(numbers(dist.rank(), dist.rank() + 1));
    const Floats in(nothing(prev + 1));
    dist.sendrecv(out, next, in, prev);
    mistakes.expect_equal(in.to_host(), numbers(prev, prev + 1), "ring");
    const Floats own(nothing(dist.rank() + 1));
    dist.sendrecv(out, dist.rank(), own, dist.rank());
    mistakes.expect_equal(own.to_host(), numbers(dist.rank(), dist.rank() + 1), "self");
  });
}

TEST_CASE("isend and irecv: any order of starting and waiting that the contract allows") {
  in_all_worlds(2, [](Communicator& dist, Mistakes& mistakes) {
    const int p = dist.world_size();
    const int next = (dist.rank() + 1) % p;
    const int prev = (dist.rank() + p - 1) % p;
    const Floats out(numbers(dist.rank(), 100));
    const auto check_in = [&](const Floats& in, const char* what) {
      mistakes.expect_equal(in.to_host(), numbers(prev, 100), what);
    };
    {
      const Floats in(nothing(100));
      const auto sent = dist.isend(out, next);
      const auto received = dist.irecv(in, prev);
      dist.wait_all({sent, received});
      check_in(in, "isend, irecv, wait_all");
    }
    {
      const Floats in(nothing(100));
      const auto sent = dist.isend(out, next);
      const auto received = dist.irecv(in, prev);
      dist.wait(sent);
      dist.wait(received);
      check_in(in, "isend, irecv, wait, wait");
    }
    {
      const Floats in(nothing(100));
      const auto sent = dist.isend(out, next);
      dist.recv(in, prev);
      dist.wait(sent);
      dist.wait(sent);  // destroys the request
      check_in(in, "isend, recv, wait");
    }
    {
      const Floats in(nothing(100));
      const auto received = dist.irecv(in, prev);
      dist.send(out, next);
      dist.wait(received);
      check_in(in, "irecv, send, wait");
    }
    {
      const Floats in(nothing(100));
      const auto received = dist.irecv(in, prev);
      const auto sent = dist.isend(out, next);
      dist.barrier();
      dist.wait(received);
      dist.wait(sent);
      check_in(in, "irecv, isend, barrier");
    }
    {
      const Floats in(nothing(100));
      const auto sent = dist.isend(out, next);
      const auto received = dist.irecv(in, prev);
      dist.all_reduce(Floats(numbers(0, 4)));
      dist.wait_all({received, sent});
      check_in(in, "isend, irecv, all_reduce, wait_all");
    }
  });
}

TEST_CASE("irecv from all and isend to all, twice, waited for in any order") {
  in_all_worlds(2, [](Communicator& dist, Mistakes& mistakes) {
    const int p = dist.world_size();
    for (const bool sends_first : {true, false}) {
      std::vector<std::unique_ptr<Floats>> in;
      std::vector<Communicator::Request> sends, receives;
      const Floats out(numbers(dist.rank(), 10));
      for (int round = 0; round < 2; ++round) {
        for (int peer = 0; peer < p; ++peer) {
          in.push_back(std::make_unique<Floats>(nothing(10)));
          receives.push_back(dist.irecv(*in.back(), peer));
          sends.push_back(dist.isend(out, peer));
        }
      }
      std::vector<Communicator::Request>& first = sends_first ? sends : receives;
      std::vector<Communicator::Request>& second = sends_first ? receives : sends;
      for (const Communicator::Request& request : first) dist.wait(request);
      dist.wait_all(second);
      for (int i = 0; i < 2 * p; ++i) {
        mistakes.expect_equal(in[static_cast<std::size_t>(i)]->to_host(), numbers(i % p, 10),
                              "from " + std::to_string(i % p));
      }
    }
  });
}

TEST_CASE("messages of several communicators do not hold each other up") {
  in_all_worlds(2, [](Communicator& dist, Mistakes& mistakes) {
    Communicator second = dist.split(0);
    Communicator third = dist.split(0);
    std::vector<Communicator> all = {dist, second, third};
    if (dist.rank() == 0) {
      std::vector<Communicator::Request> requests;
      std::vector<std::unique_ptr<Floats>> data;
      for (int i = 0; i < 3; ++i) {
        data.push_back(std::make_unique<Floats>(numbers(i, 5)));
        requests.push_back(all[static_cast<std::size_t>(i)].isend(*data.back(), 1));
      }
      dist.wait_all(requests);
    } else if (dist.rank() == 1) {
      for (int i = 2; i >= 0; --i) {
        const Floats in(nothing(5));
        all[static_cast<std::size_t>(i)].recv(in, 0);
        mistakes.expect_equal(in.to_host(), numbers(i, 5), "message");
      }
    }
  });
}

TEST_CASE("a message that was asked for goes on while the host waits in a split") {
  in_all_worlds(2, [](Communicator& dist, Mistakes& mistakes) {
    const Floats data(dist.rank() == 1 ? numbers(1, 5) : nothing(5));
    Communicator::Request request;
    if (dist.rank() == 0) request = dist.irecv(data, 1);
    if (dist.rank() == 1) dist.send(data, 0);
    Communicator all = dist.split(0);
    mistakes.expect(all.world_size() == dist.world_size(), "size");
    if (dist.rank() == 0) dist.wait(request);
    if (dist.rank() < 2) mistakes.expect_equal(data.to_host(), numbers(1, 5), "message");
  });
}

TEST_CASE("a split while a barrier is under way") {
  in_all_worlds(2, [](Communicator& dist, Mistakes& mistakes) {
    const int me = dist.rank();
    const int p = dist.world_size();
    // The last one calls the barrier while the others are in the split.
    if (me == p - 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const Communicator::Request barrier = dist.barrier_async();
    const Communicator half = dist.split(me % 2, -me);
    mistakes.expect(half.world_size() == (p + 1 - me % 2) / 2, "size");
    mistakes.expect(half.rank() == half.world_size() - 1 - me / 2, "rank");
    dist.wait(barrier);
  });
}

TEST_CASE("isend sends what the tensor holds at the call, whatever was enqueued before") {
  in_all_worlds(2, [](Communicator& dist, Mistakes& mistakes) {
    // Large, and filled often: an operation that does not wait for the last fill runs too early.
    constexpr int kCount = 1 << 18;
    const cudaStream_t stream = current_rank_device()->stream();
    const auto fill = [stream](Slice slice, double value) {
      launch_fill(slice.data(), slice.size(), slice.dtype(), value, stream);
    };
    if (dist.rank() > 1) return;
    const Floats data(nothing(kCount));
    if (dist.rank() == 0) {
      for (int i = 0; i < 20; ++i) fill(data, i);
      const auto sent = dist.isend(data, 1);
      dist.wait(sent);
      fill(data, 99);  // ordered after the wait
    } else {
      const auto received = dist.irecv(data, 0);
      dist.wait(received);
      mistakes.expect_equal(data.to_host(), std::vector<float>(kCount, 19), "message");
    }
  });
}

TEST_CASE("messages to oneself: isend and irecv in either order, one of them blocking") {
  in_all_worlds(1, [](Communicator& dist, Mistakes& mistakes) {
    const int me = dist.rank();
    const Floats out(numbers(me, 6));
    for (const bool send_first : {true, false}) {
      for (const int blocking : {0, 1}) {
        const Floats in(nothing(6));
        Communicator::Request request, other;
        if (send_first) {
          request = dist.isend(out, me);
          blocking ? dist.recv(in, me) : void(other = dist.irecv(in, me));
        } else {
          request = dist.irecv(in, me);
          blocking ? dist.send(out, me) : void(other = dist.isend(out, me));
        }
        dist.wait(request);
        if (!blocking) dist.wait(other);
        mistakes.expect_equal(in.to_host(), numbers(me, 6), "self");
      }
    }
  });
}

TEST_CASE("a message of no elements: nothing waits, and nothing is left") {
  in_all_worlds(2, [](Communicator& dist, Mistakes&) {
    const int p = dist.world_size();
    const Floats empty((std::vector<float>()));
    const auto sent = dist.isend(empty, (dist.rank() + 1) % p);
    dist.recv(empty, (dist.rank() + p - 1) % p);
    dist.wait(sent);
  });
}

TEST_CASE("other types travel, too") {
  in_all_worlds(2, [](Communicator& dist, Mistakes& mistakes) {
    const auto exchange = [&]<class T>(T value) {
      const DeviceArray<T> data(std::vector<T>{dist.rank() == 0 ? value : T{}});
      if (dist.rank() == 0) dist.send(data, 1);
      if (dist.rank() != 1) return;
      dist.recv(data, 0);
      mistakes.expect_equal(data.to_host(), {value}, name_of(dtype_of<T>()));
    };
    exchange(1.0 / 3);
    exchange(std::int32_t{-5});
    exchange(std::int64_t{1} << 60);
    exchange(Float16(1.5f));
    exchange(BFloat16(1.5f));
  });
}

}  // namespace
}  // namespace rankbox::gpu
