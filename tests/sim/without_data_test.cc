// Runs without data have the clocks, costs and errors of runs with it, and no memory.
#include "comm/without_data.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/tensor.h"
#include "tests/sim/on_executor.h"
#include "tests/sim/round_cluster.h"

namespace rankbox::testing {
namespace {

constexpr std::int64_t kTebibyte = std::int64_t{1} << 40;

RunOptions without_data(RunOptions options) {
  options.without_data = true;
  return options;
}

int next_of(const Comm& dist) { return (dist.rank() + 1) % dist.world_size(); }
int prev_of(const Comm& dist) { return (dist.rank() + dist.world_size() - 1) % dist.world_size(); }

struct Case {
  const char* name;
  std::function<void(Comm& dist, std::int64_t count)> body;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> table = {
      {"messages",
       [](Comm& dist, std::int64_t count) {
         Tensor out = full(count, 2.0f);
         Tensor in = zeros(count);
         dist.sendrecv(out, next_of(dist), in, prev_of(dist));
         accumulate(out, in, ReduceOp::SUM);
         out *= 3.0f;
         in /= 2.0f;
         copy(in, out);
         if (dist.rank() == 0) dist.send(in, 1);
         if (dist.rank() == 1) dist.recv(out, 0);
       }},
      {"started operations",
       [](Comm& dist, std::int64_t count) {
         Tensor out = zeros(count);
         Tensor in = zeros(count);
         const Request receiving = dist.irecv(in, prev_of(dist));
         const Request sending = dist.isend(out, next_of(dist));
         dist.compute(1e-3);
         dist.wait_all({receiving, sending});
       }},
      {"parts of tensors",
       [](Comm& dist, std::int64_t count) {
         Tensor whole = zeros(count * dist.world_size());
         const int p = dist.world_size();
         dist.sendrecv(chunk(whole, dist.rank(), p), next_of(dist), chunk(whole, prev_of(dist), p),
                       prev_of(dist));
       }},
      {"native collectives",
       [](Comm& dist, std::int64_t count) {
         Tensor tensor = zeros(count);
         Tensor all = zeros(count * dist.world_size());
         dist.broadcast(tensor, 0);
         dist.all_reduce(tensor, ReduceOp::MAX);
         dist.reduce(tensor, 1, ReduceOp::SUM);
         dist.all_gather(tensor, all);
         dist.reduce_scatter(all, tensor, ReduceOp::SUM);
         dist.barrier();
       }},
      {"communicators",
       [](Comm& dist, std::int64_t count) {
         Comm part = dist.split(dist.rank() % 2, dist.rank());
         Tensor tensor = zeros(count);
         part.all_reduce(tensor, ReduceOp::SUM);
         if (part.rank() == 0) part.send(clone(tensor), 1);
         if (part.rank() == 1) part.recv(tensor, 0);
       }},
  };
  return table;
}

TEST_CASE("clocks and costs are those of a run with data") {
  for (const Case& each : cases()) {
    for (const Buffering buffering : {Buffering::rendezvous(), Buffering::unbounded()}) {
      for (const std::int64_t count : {0, 1, 5, 1000}) {
        CAPTURE(each.name);
        CAPTURE(count);
        RunOptions options = world_of(/*world_size=*/4, /*nodes=*/2);
        options.buffering = buffering;
        const auto body = [&](Comm& dist) { each.body(dist, count); };
        const RunReport with = report_of(options, body);
        const RunReport without = report_of(without_data(options), body);
        CHECK(without.cost == with.cost);
        CHECK(seconds_of(without) == seconds_of(with));
        CHECK(without.messages == with.messages);
        CHECK(without.bytes == with.bytes);
        CHECK(without.peak_bytes == with.peak_bytes);
      }
    }
  }
}

TEST_CASE("tensors may be larger than any memory") {
  for (const Case& each : cases()) {
    CAPTURE(each.name);
    const RunReport report =
        report_of(without_data(world_of(4)), [&](Comm& dist) { each.body(dist, kTebibyte / 4); });
    CHECK(report.cost.bytes >= static_cast<double>(kTebibyte));
    CHECK(report.peak_bytes.front() >= kTebibyte);
  }
}

TEST_CASE("each access to a value is one error with rank, function and line") {
  const std::vector<std::pair<const char*, std::function<void(Tensor&, Place)>>> touches = {
      {"data", [](Tensor& tensor, Place here) { tensor.data(here)[0] = 1; }},
      {"data",
       [](Tensor& tensor, Place here) {
         const float value = *std::as_const(tensor).data(here);
         CHECK(value == 0);
       }},
      {"to_host", [](Tensor& tensor, Place here) { to_host(tensor, here); }},
  };
  for (const auto& [function, touch] : touches) {
    CAPTURE(function);
    const Place here = Place::current();
    try {
      run_world(without_data(world_of(2)), [&, &touch = touch](Comm& dist) {
        Tensor tensor = zeros(8);
        if (dist.rank() == 1) touch(tensor, here);
      });
      FAIL("no error");
    } catch (const InvalidArgument& error) {
      CHECK(error.rank() == 1);
      CHECK(error.op() == function);
      CHECK(error.line() == static_cast<int>(here.line()));
      CHECK(std::string(error.what()).find("--virtual") != std::string::npos);
    }
  }
}

TEST_CASE("copying values out of a tensor without data is an error, into one is not") {
  Tensor outside = zeros(4);
  CHECK_THROWS_AS(run_world(without_data(world_of(1)), [&](Comm&) { copy(outside, zeros(4)); }),
                  InvalidArgument);
  run_world(without_data(world_of(1)), [&](Comm&) {
    Tensor inside = from_host({1.0f, 2.0f, 3.0f, 4.0f});
    copy(inside, outside);
  });
}

TEST_CASE("tensors made outside the ranks keep their data") {
  run_world(without_data(world_of(2)), [](Comm& dist) { dist.barrier(); });
  CHECK(to_host(full(2, 3.0f)) == std::vector{3.0f, 3.0f});
}

TEST_CASE("a tensor beyond all addresses does not fit, as with data") {
  CHECK_THROWS_AS(run_world(without_data(world_of(1)),
                            [](Comm&) { Tensor tensor((std::int64_t{1} << 61) - 1); }),
                  OutOfMemory);
  CHECK_THROWS_AS(run_world(without_data(world_of(1)),
                            [](Comm&) {
                              std::vector<Tensor> all;
                              for (int i = 0; i < 10000; ++i)
                                all.emplace_back(std::int64_t{1} << 48);
                            }),
                  OutOfMemory);
}

TEST_CASE("mistakes are found as with data") {
  const auto run = [](const std::function<void(Comm&)>& body) {
    run_world(without_data(world_of(2)), body);
  };
  CHECK_THROWS_AS(run([](Comm& dist) {
                    Tensor tensor = zeros(dist.rank() + 1);
                    if (dist.rank() == 0) dist.send(tensor, 1);
                    if (dist.rank() == 1) dist.recv(tensor, 0);
                  }),
                  MessageMismatch);
  CHECK_THROWS_AS(run([](Comm& dist) {
                    Tensor tensor = zeros(4);
                    dist.recv(tensor, 1 - dist.rank());
                  }),
                  DeadlockError);
  CHECK_THROWS_AS(run([](Comm& dist) {
                    Request sending;
                    {
                      Tensor tensor = zeros(4);
                      sending = dist.isend(tensor, 1 - dist.rank());
                    }
                    Tensor in = zeros(4);
                    dist.recv(in, 1 - dist.rank());
                    dist.wait(sending);
                  }),
                  BufferReused);
  CHECK_THROWS_AS(run([](Comm&) {
                    Tensor tensor = zeros(4);
                    accumulate(chunk(tensor, 0, 2), Slice(tensor).sub(1, 3), ReduceOp::SUM);
                  }),
                  InvalidArgument);
}

}  // namespace
}  // namespace rankbox::testing
