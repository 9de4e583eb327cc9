// The tensor bytes that each rank held at once.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

using Peaks = std::vector<std::int64_t>;

TEST_CASE("clones, copies and temporaries count; moves and slices do not") {
  const auto peak = [](auto body) {
    return run_world({}, [&](Comm&) { body(); }).peak_bytes.at(0);
  };
  CHECK(peak([] {}) == 0);
  CHECK(peak([] { Tensor empty; }) == 0);
  CHECK(peak([] { TensorOf<double> t = zeros<double>({2, 5}); }) == 80);
  CHECK(peak([] {
          Tensor a = zeros(10);
          Tensor b = clone(a);
        }) == 80);
  CHECK(peak([] {
          Tensor a = zeros(10);
          Tensor b = a;
        }) == 80);
  CHECK(peak([] {
          Tensor a = zeros(10);
          Tensor b = std::move(a);
          Slice s = b;
          (void)chunk(s, 0, 2);
        }) == 40);
  CHECK(peak([] {
          Tensor a = zeros(10);
          Tensor b = zeros(10);
          a = maximum(a, b);  // both exist until the new one is moved
        }) == 120);
  CHECK(peak([] {
          Tensor a = zeros(10);
          a += zeros(10);
        }) == 80);
  CHECK(peak([] {
          Tensor a = zeros(10);
          a = Tensor();
          a = zeros(7);
        }) == 40);
  CHECK(peak([] { (void)from_host(std::vector<std::int64_t>(4)); }) == 32);
}

TEST_CASE("tensors that leave their rank are not counted against another") {
  // The results are moved to the main thread and destroyed there; the inputs were created there.
  const Tensor outside = zeros(1000);
  const auto run = run_ranks({.world_size = 2}, [&](Comm&) {
    Tensor mine = clone(outside);
    return mine;
  });
  CHECK(run.report.peak_bytes == Peaks{4000, 4000});

  std::optional<Tensor> handed_over;
  const auto report = run_world({.world_size = 2}, [&](Comm& dist) {
    if (dist.rank() == 0) handed_over = zeros(500);
    dist.barrier();
    if (dist.rank() == 1) {
      handed_over.reset();
      Tensor mine = zeros(100);
    }
  });
  CHECK(report.peak_bytes == Peaks{2000, 400});
}

TEST_CASE("messages and native collectives take no tensor memory") {
  for (Buffering buffering : {Buffering::rendezvous(), Buffering::unbounded()}) {
    const auto report = run_world({.world_size = 4, .buffering = buffering}, [](Comm& dist) {
      Tensor tensor = zeros(64);
      Tensor other = zeros(64);
      dist.sendrecv(tensor, dist.rank() ^ 1, other, dist.rank() ^ 1);
      if (dist.rank() == 0) dist.send(tensor, 1);
      if (dist.rank() == 1) dist.recv(tensor, 0);
      dist.all_reduce(tensor);
      dist.reduce(tensor, 2, ReduceOp::AVG);
    });
    CHECK(report.peak_bytes == Peaks(4, 512));
  }
}

TEST_CASE("a world inside a rank has its own count") {
  const auto run = run_ranks({.world_size = 1}, [](Comm&) {
    Tensor mine = zeros(10);
    return run_world({.world_size = 2}, [](Comm&) { Tensor inner = zeros(1000); }).peak_bytes;
  });
  CHECK(run.results[0] == Peaks{4000, 4000});
  CHECK(run.report.peak_bytes == Peaks{40});
}

TEST_CASE("a failed run reports its peaks, too") {
  const auto seen = observe({.world_size = 2}, [](Comm& dist) {
    Tensor tensor = zeros(25);
    dist.recv(tensor, 1 - dist.rank());
  });
  CHECK(seen.thrown != nullptr);
  CHECK(seen.report.peak_bytes == Peaks{100, 100});
}

}  // namespace
}  // namespace rankbox::testing
