// Order over NCCL, real or emulated, on all GPUs, up to eight: deferred messages, calls in flight,
// and what they see of the arithmetic around them.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "gpu/device/devices.h"
#include "tests/support/run_tests.h"

namespace rankbox::gpu {
namespace {

/// Calls mistake(dist), whose result is empty if all is right, on every rank of worlds of at least
/// `smallest`.
template <class Mistake>
void in_all_worlds(int smallest, Mistake mistake) {
  if (device_count() < smallest) return testing::pass_over("fewer GPUs than ranks");
  for (int p = smallest; p <= std::min(device_count(), 8); ++p) {
    CAPTURE(p);
    const auto run = run_ranks({.world_size = p, .deadline_seconds = 20}, mistake);
    for (const std::string& found : run.results) CHECK(found == "");
  }
}

bool holds(const Tensor& tensor, int value) {
  return to_host(tensor) ==
         std::vector<float>(static_cast<std::size_t>(tensor.size()), static_cast<float>(value));
}

TEST_CASE("what is started sees the arithmetic before it, and arithmetic after the wait sees it") {
  in_all_worlds(2, [](Comm& dist) -> std::string {
    const int p = dist.world_size();
    // Large, and changed often: an operation that does not wait for the last change runs too early.
    const auto ten = [] {
      const Tensor one = full(1 << 17, 1.0f);
      Tensor tensor = zeros(one.shape());
      for (int i = 0; i < 10; ++i) tensor += one;
      return tensor;
    };
    Tensor out = ten(), sum = ten(), in = zeros(out.shape());
    const Request received = dist.irecv(in, (dist.rank() + p - 1) % p);
    const Request sent = dist.isend(out, (dist.rank() + 1) % p);
    const Request reduced = dist.all_reduce_async(sum);
    dist.wait_all({received, sent, reduced});
    out *= 99.0f;  // after the message has left
    in += sum;
    return holds(in, 10 + 10 * p) ? "" : "wrong sum";
  });
}

TEST_CASE("a deferred message goes on during calls that wait, and does not hold them up") {
  using Call = void (*)(Comm&);
  static constexpr std::pair<const char*, Call> kCalls[] = {
      {"all_reduce", [](Comm& d) { d.all_reduce(zeros(4)); }},
      {"barrier", [](Comm& d) { d.barrier(); }},
      {"split", [](Comm& d) { (void)d.split(d.rank() % 2); }},
  };
  in_all_worlds(2, [](Comm& dist) {
    std::string mistakes;
    for (const auto& [name, call] : kCalls) {
      for (const bool sends : {true, false}) {    // rank 0, and rank 1 does the opposite
        for (const bool early : {true, false}) {  // rank 1, which blocks
          Tensor data = full(5, static_cast<float>(dist.rank()));
          const auto block = [&] {
            if (dist.rank() == 1) sends ? dist.recv(data, 0) : dist.send(data, 0);
          };
          Request request;
          if (dist.rank() == 0) request = sends ? dist.isend(data, 1) : dist.irecv(data, 1);
          if (early) block();
          call(dist);
          if (!early) block();
          if (dist.rank() == 0) dist.wait(request);
          if (dist.rank() < 2 && !holds(data, sends ? 0 : 1)) mistakes.append(name).append("; ");
        }
      }
    }
    return mistakes;
  });
}

TEST_CASE("isend joins the next recv, and matches a later irecv of the same rank") {
  in_all_worlds(1, [](Comm& dist) -> std::string {
    const int p = dist.world_size();
    const int prev = (dist.rank() + p - 1) % p;
    const Tensor out = full(100, static_cast<float>(dist.rank()));
    Tensor in = zeros(100), own = full(100, -1.0f);
    const Request sent = dist.isend(out, (dist.rank() + 1) % p);
    const Request to_self = dist.isend(out, dist.rank());
    dist.recv(in, prev);
    dist.wait_all({sent, to_self, dist.irecv(own, dist.rank())});
    return holds(in, prev) && holds(own, dist.rank()) ? "" : "wrong message";
  });
}

TEST_CASE("a split while a barrier is under way") {
  in_all_worlds(2, [](Comm& dist) -> std::string {
    const int me = dist.rank();
    const int p = dist.world_size();
    // The last one calls the barrier while the others are in the split.
    if (me == p - 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const Request barrier = dist.barrier_async();
    const Comm half = dist.split(me % 2, -me);
    dist.wait(barrier);
    const bool right =
        half.world_size() == (p + 1 - me % 2) / 2 && half.rank() == half.world_size() - 1 - me / 2;
    return right ? "" : "wrong colors or keys";
  });
}

TEST_CASE("collectives made of messages are in flight beside messages") {
  in_all_worlds(2, [](Comm& dist) -> std::string {
    const int p = dist.world_size();
    const int prev = (dist.rank() + p - 1) % p;
    const auto of = [](std::int64_t count, int value) {
      return full(count, static_cast<float>(value));
    };
    const Tensor mine = of(6, dist.rank()), whole = of(6 * p, dist.rank());
    Tensor in = zeros(6), piece = zeros(6), gathered = zeros(6 * p), swapped = zeros(6 * p);
    const Tensor out = of(6, 100 + dist.rank());
    const std::vector<Request> requests = {
        dist.irecv(in, prev),
        dist.scatter_async(whole, piece, p - 1),
        dist.all_to_all_async(whole, swapped),
        dist.isend(out, (dist.rank() + 1) % p),
        dist.gather_async(mine, gathered, 0),
    };
    for (auto request = requests.rbegin(); request != requests.rend(); ++request)
      dist.wait(*request);
    std::vector<float> by_rank;
    for (int rank = 0; rank < p; ++rank) by_rank.insert(by_rank.end(), 6, static_cast<float>(rank));
    if (!holds(in, 100 + prev)) return "message";
    if (!holds(piece, p - 1)) return "scatter";
    if (to_host(swapped) != by_rank) return "all_to_all";
    return dist.rank() > 0 || to_host(gathered) == by_rank ? "" : "gather";
  });
}

TEST_CASE("collectives of two communicators, started in another order on each rank") {
  in_all_worlds(2, [](Comm& dist) -> std::string {
    Comm one = dist.split(0), two = dist.split(0);
    Tensor a = full(6, 1.0f), b = full(6, 2.0f), c = full(6, 3.0f);
    std::vector<std::pair<Comm*, Tensor*>> started = {{&one, &a}, {&two, &b}, {&dist, &c}};
    if (dist.rank() % 2 == 1) std::reverse(started.begin(), started.end());
    std::vector<Request> requests;
    for (const auto& [comm, data] : started) requests.push_back(comm->all_reduce_async(*data));
    dist.wait_all(requests);
    const int p = dist.world_size();
    return holds(a, p) && holds(b, 2 * p) && holds(c, 3 * p) ? "" : "wrong sum";
  });
}

TEST_CASE("more calls in flight than a rank may have launch the messages that they wait for") {
  in_all_worlds(2, [](Comm& dist) {
    std::string mistakes;
    for (const int calls : {63, 64, 65, 130}) {
      for (const bool last : {false, true}) {  // the message after the calls
        for (const bool receives : {false, true}) {
          std::vector<Request> requests;
          Tensor data = full(5, static_cast<float>(dist.rank())), sum = zeros(4);
          const bool takes_part = dist.rank() < 2;
          const bool starts = dist.rank() == 0;
          const auto message = [&] {
            if (starts) requests.push_back(receives ? dist.irecv(data, 1) : dist.isend(data, 1));
          };
          const auto block = [&] {
            if (takes_part && !starts) receives ? dist.send(data, 0) : dist.recv(data, 0);
          };
          if (!last) message();
          if (!last) block();
          for (int i = 0; i < calls; ++i) requests.push_back(dist.all_reduce_async(sum));
          if (last) message();
          if (last) block();
          dist.wait_all(requests);
          if (takes_part && !holds(data, receives ? 1 : 0)) mistakes += std::to_string(calls) + " ";
        }
      }
    }
    return mistakes;
  });
}

TEST_CASE("reduce_scatter in place averages, also where p does not divide the size") {
  in_all_worlds(2, [](Comm& dist) -> std::string {
    const int p = dist.world_size();
    for (const int size : {4 * p, 4 * p + 1}) {
      Tensor data = full(size, static_cast<float>(2 * dist.rank()));
      const Slice piece = chunk(data, dist.rank(), p);
      dist.reduce_scatter(data, piece, ReduceOp::AVG);
      Tensor average = zeros(piece.size());
      copy(average, piece);
      if (!holds(average, p - 1)) return std::to_string(size);
    }
    return "";
  });
}

}  // namespace
}  // namespace rankbox::gpu
