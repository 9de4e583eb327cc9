// Arguments that no call can accept.
//
// The error is one line with the value and the expected one. Calls have no partial effect.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"
#include "tests/support/run_tests.h"

namespace rankbox::testing {
namespace {

/// A call that must be rejected. It runs on rank 1 of 3, on tensors of 6 floats (all elements 1),
/// one of 18, and const ones.
struct BadCall {
  const char* op;
  const char* what;
  std::function<void(Comm&, Tensor& t, Tensor& u, Tensor& all)> call;
  std::vector<std::string> says;  // values and names; other wording may change
};

const Tensor& constant() {
  static const Tensor tensor = full(6, 1.0f);
  return tensor;
}
const Tensor& constant_all() {
  static const Tensor tensor = full(18, 1.0f);
  return tensor;
}

using T = Tensor;

std::vector<BadCall> bad_ranks() {
  std::vector<BadCall> calls;
  for (int rank : {3, -1, 1000000, std::numeric_limits<int>::max(), kNoRank}) {
    const std::string value = std::to_string(rank);
    const auto add = [&](const char* op, std::function<void(Comm&, T&, T&, T&)> call) {
      const bool is_message = std::string(op).find("send") != std::string::npos ||
                              std::string(op).find("recv") != std::string::npos;
      if (is_message && rank == kNoRank) return;  // does nothing
      calls.push_back({op, "rank", std::move(call), {value, "0 to 2"}});
    };
    add("sendrecv_replace", [=](Comm& d, T& t, T&, T&) { d.sendrecv_replace(t, rank, 0); });
    add("sendrecv_replace", [=](Comm& d, T& t, T&, T&) { d.sendrecv_replace(t, 0, rank); });
    add("send", [=](Comm& d, T& t, T&, T&) { d.send(t, rank); });
    add("recv", [=](Comm& d, T& t, T&, T&) { d.recv(t, rank); });
    add("sendrecv", [=](Comm& d, T& t, T& u, T&) { d.sendrecv(t, rank, u, 0); });
    add("sendrecv", [=](Comm& d, T& t, T& u, T&) { d.sendrecv(t, 0, u, rank); });
    add("isend", [=](Comm& d, T& t, T&, T&) { (void)d.isend(t, rank); });
    add("irecv", [=](Comm& d, T& t, T&, T&) { (void)d.irecv(t, rank); });
    add("broadcast", [=](Comm& d, T& t, T&, T&) { d.broadcast(t, rank); });
    add("reduce", [=](Comm& d, T& t, T&, T&) { d.reduce(t, rank); });
    add("gather", [=](Comm& d, T& t, T&, T& a) { d.gather(t, a, rank); });
    add("scatter", [=](Comm& d, T& t, T&, T& a) { d.scatter(a, t, rank); });
    add("broadcast_async", [=](Comm& d, T& t, T&, T&) { (void)d.broadcast_async(t, rank); });
    add("reduce_async", [=](Comm& d, T& t, T&, T&) { (void)d.reduce_async(t, rank); });
    add("gather_async", [=](Comm& d, T& t, T&, T& a) { (void)d.gather_async(t, a, rank); });
    add("scatter_async", [=](Comm& d, T& t, T&, T& a) { (void)d.scatter_async(a, t, rank); });
  }
  return calls;
}

std::vector<BadCall> null_slices() {
  std::vector<BadCall> calls;
  const auto add = [&](const char* op, std::function<void(Comm&, T&, T&, T&)> call) {
    calls.push_back({op, "null", std::move(call), {"null"}});
  };
  add("send", [](Comm& d, T&, T&, T&) { d.send(Slice(), 0); });
  add("recv", [](Comm& d, T&, T&, T&) { d.recv(Slice(), 0); });
  add("sendrecv", [](Comm& d, T& t, T&, T&) { d.sendrecv(Slice(), 0, t, 0); });
  add("sendrecv", [](Comm& d, T& t, T&, T&) { d.sendrecv(t, 0, Slice(), 0); });
  add("send", [](Comm& d, T&, T&, T&) { d.send(Slice(), kNoRank); });
  add("sendrecv_replace", [](Comm& d, T&, T&, T&) { d.sendrecv_replace(Slice(), 0, 0); });
  add("isend", [](Comm& d, T&, T&, T&) { (void)d.isend(Slice(), 0); });
  add("irecv", [](Comm& d, T&, T&, T&) { (void)d.irecv(Slice(), 0); });
  add("broadcast", [](Comm& d, T&, T&, T&) { d.broadcast(Slice(), 0); });
  add("broadcast", [](Comm& d, T&, T&, T&) { d.broadcast(Slice(), 1); });
  add("reduce", [](Comm& d, T&, T&, T&) { d.reduce(Slice(), 0); });
  add("all_reduce", [](Comm& d, T&, T&, T&) { d.all_reduce(Slice()); });
  add("gather", [](Comm& d, T&, T&, T& a) { d.gather(Slice(), a, 0); });
  add("gather", [](Comm& d, T& t, T&, T&) { d.gather(t, Slice(), 1); });
  add("all_gather", [](Comm& d, T&, T&, T& a) { d.all_gather(Slice(), a); });
  add("all_gather", [](Comm& d, T& t, T&, T&) { d.all_gather(t, Slice()); });
  add("scatter", [](Comm& d, T& t, T&, T&) { d.scatter(Slice(), t, 1); });
  add("scatter", [](Comm& d, T&, T&, T& a) { d.scatter(a, Slice(), 0); });
  add("reduce_scatter", [](Comm& d, T& t, T&, T&) { d.reduce_scatter(Slice(), t); });
  add("reduce_scatter", [](Comm& d, T& t, T&, T&) { d.reduce_scatter(t, Slice()); });
  add("all_to_all", [](Comm& d, T& t, T&, T&) { d.all_to_all(Slice(), t); });
  add("all_to_all", [](Comm& d, T& t, T&, T&) { d.all_to_all(t, Slice()); });
  return calls;
}

std::vector<BadCall> constant_targets() {
  std::vector<BadCall> calls;
  const auto add = [&](const char* op, std::function<void(Comm&, T&, T&, T&)> call) {
    calls.push_back({op, "const", std::move(call), {"const"}});
  };
  add("recv", [](Comm& d, T&, T&, T&) { d.recv(constant(), 0); });
  add("sendrecv", [](Comm& d, T& t, T&, T&) { d.sendrecv(t, 0, constant(), 0); });
  add("recv", [](Comm& d, T&, T&, T&) { d.recv(constant(), kNoRank); });
  add("sendrecv_replace", [](Comm& d, T&, T&, T&) { d.sendrecv_replace(constant(), 0, 0); });
  add("irecv", [](Comm& d, T&, T&, T&) { (void)d.irecv(chunk(constant(), 1, 2), 0); });
  add("broadcast", [](Comm& d, T&, T&, T&) { d.broadcast(constant(), 0); });
  add("reduce", [](Comm& d, T&, T&, T&) { d.reduce(constant(), 1); });
  add("all_reduce", [](Comm& d, T&, T&, T&) { d.all_reduce(constant()); });
  add("all_reduce_async", [](Comm& d, T&, T&, T&) { (void)d.all_reduce_async(constant()); });
  add("gather", [](Comm& d, T& t, T&, T&) { d.gather(t, constant_all(), 1); });
  add("all_gather", [](Comm& d, T& t, T&, T&) { d.all_gather(t, constant_all()); });
  add("scatter", [](Comm& d, T&, T&, T& a) { d.scatter(a, constant(), 0); });
  add("reduce_scatter",
      [](Comm& d, T& t, T&, T&) { d.reduce_scatter(t, chunk(constant(), 0, 3)); });
  add("all_to_all", [](Comm& d, T& t, T&, T&) { d.all_to_all(t, constant()); });
  return calls;
}

using Counts = std::vector<std::int64_t>;

std::vector<BadCall> wrong_sizes_and_dtypes() {
  static const TensorOf<double> doubles = full<double>(6, 1.0);
  return {
      {"gather",
       "size",
       [](Comm& d, T& t, T& u, T&) { d.gather(t, u, 1); },
       {"gathered", "6", "18"}},
      {"all_gather",
       "size",
       [](Comm& d, T& t, T& u, T&) { d.all_gather(t, u); },
       {"slice", "chunk(gathered", "6", "2"}},
      {"all_gather_async",
       "size",
       [](Comm& d, T& t, T& u, T&) { (void)d.all_gather_async(t, u); },
       {"slice", "chunk(gathered", "6", "2"}},
      {"gather_v",
       "counts",
       [](Comm& d, T& t, T&, T& a) {
         d.gather_v(t, a, Counts{6, 12}, 1);
       },
       {"counts", "2 numbers", "world_size = 3"}},
      {"gather_v",
       "counts",
       [](Comm& d, T& t, T&, T& a) {
         d.gather_v(t, a, Counts{6, 6, 7}, 1);
       },
       {"gathered", "18", "sum of counts = 19"}},
      {"gather_v",
       "counts",
       [](Comm& d, T& t, T&, T& a) {
         d.gather_v(t, a, Counts{8, 4, 6}, 1);
       },
       {"slice", "6", "counts[rank] = 4"}},
      {"all_gather_v",
       "counts",
       [](Comm& d, T& t, T&, T& a) {
         d.all_gather_v(t, a, Counts{13, 6, -1});
       },
       {"counts[2] is -1"}},
      {"all_gather_v",
       "in place",
       [](Comm& d, T&, T&, T& a) {
         d.all_gather_v(Slice(a).sub(0, 6), a, Counts{4, 6, 8});
       },
       {"in place", "element 4"}},
      {"scatter_v",
       "counts",
       [](Comm& d, T& t, T&, T& a) {
         d.scatter_v(a, Counts{1L << 62, 1L << 62, 18}, t, 1);
       },
       {"counts[0]", "0 to 18"}},
      {"all_to_all_v",
       "counts",
       [](Comm& d, T& t, T& u, T&) {
         d.all_to_all_v(t, Counts{1, 2, 3}, u, Counts{1, 3, 2});
       },
       {"send_counts[rank] is 2", "receive_counts[rank] is 3"}},
      {"all_to_all_v_async",
       "counts",
       [](Comm& d, T& t, T& u, T&) {
         (void)d.all_to_all_v_async(t, Counts{1, 2, 3}, u, Counts{1, 2, 4});
       },
       {"output", "6", "sum of receive_counts = 7"}},
      {"scatter",
       "size",
       [](Comm& d, T& t, T& u, T&) { d.scatter(u, t, 1); },
       {"whole", "6", "18"}},
      {"reduce_scatter",
       "size",
       [](Comm& d, T& t, T& u, T&) { d.reduce_scatter(t, u); },
       {"piece", "6", "2"}},
      {"all_to_all",
       "size",
       [](Comm& d, T& t, T&, T& a) { d.all_to_all(t, a); },
       {"output", "18", "6"}},
      {"gather",
       "dtype",
       [](Comm& d, T&, T&, T& a) { d.gather(doubles, a, 1); },
       {"float64", "float32"}},
      {"all_gather",
       "dtype",
       [](Comm& d, T&, T&, T& a) { d.all_gather(doubles, a); },
       {"float64", "float32"}},
      {"scatter",
       "dtype",
       [](Comm& d, T& t, T&, T&) { d.scatter(doubles, t, 1); },
       {"float64", "float32"}},
      {"reduce_scatter",
       "dtype",
       [](Comm& d, T& t, T&, T&) { d.reduce_scatter(doubles, chunk(t, 0, 3)); },
       {"float64", "float32"}},
      {"all_to_all",
       "dtype",
       [](Comm& d, T& t, T&, T&) { d.all_to_all(doubles, t); },
       {"float64", "float32"}},
  };
}

std::vector<BadCall> overlaps_and_times() {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {
      {"sendrecv", "overlap", [](Comm& d, T& t, T&, T&) { d.sendrecv(t, 0, t, 0); }, {"overlap"}},
      {"sendrecv",
       "overlap",
       [](Comm& d, T& t, T&, T&) { d.sendrecv(Slice(t).sub(0, 4), 0, Slice(t).sub(3, 6), 0); },
       {"overlap"}},
      {"all_to_all", "overlap", [](Comm& d, T& t, T&, T&) { d.all_to_all(t, t); }, {"overlap"}},
      {"compute", "time", [](Comm& d, T&, T&, T&) { d.compute(-0.5); }, {"-0.5"}},
      {"compute", "time", [=](Comm& d, T&, T&, T&) { d.compute(nan); }, {"nan"}},
      {"compute", "time", [=](Comm& d, T&, T&, T&) { d.compute(infinity); }, {"inf"}},
      {"group",
       "ranks",
       [](Comm& d, T&, T&, T&) {
         (void)d.group({0, 3});
       },
       {"member 3", "0 to 2"}},
      {"group",
       "ranks",
       [](Comm& d, T&, T&, T&) {
         (void)d.group({2, 0, 2});
       },
       {"rank 2 is named twice"}},
  };
}

void check_refused(const std::vector<BadCall>& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const BadCall& bad = calls[i];
    const std::string name = std::string(bad.op) + ": " + bad.what;
    if (!wants_row(name)) continue;
    CAPTURE(i);
    CAPTURE(name);
    bool untouched = false;
    const auto seen = observe({.world_size = 3}, [&](Comm& dist) {
      if (dist.rank() != 1) return;
      Tensor t = full(6, 1.0f);
      Tensor u = full(6, 1.0f);
      Tensor all = full(18, 1.0f);
      try {
        bad.call(dist, t, u, all);
      } catch (...) {
        untouched = to_host(t) == to_host(constant()) && to_host(u) == to_host(constant()) &&
                    to_host(all) == to_host(constant_all());
        throw;
      }
    });
    const std::string what = what_of(seen.thrown);
    INFO(what);
    const auto error = require_error<InvalidArgument>(seen);
    CHECK(error.rank() == 1);
    CHECK(error.op() == bad.op);
    CHECK(is_file(error.file(), "bad_input_test.cc"));
    CHECK(error.line() > 0);
    for (const std::string& words : bad.says) CHECK(contains(what, words));
    for (const std::string& part : {std::string("rank 1"), error.op(), place_of(error)})
      CHECK(contains(what, part));
    CHECK(what.find('\n') == std::string::npos);
    CHECK(untouched);
    CHECK(seen.report.messages == 0);
    CHECK(seen.report.trace.ranks.at(1).empty());
  }
}

TEST_CASE("ranks and roots outside of the world") { check_refused(bad_ranks()); }
TEST_CASE("null slices") { check_refused(null_slices()); }
TEST_CASE("const tensors as targets") { check_refused(constant_targets()); }
TEST_CASE("sizes and dtypes that do not go together on one rank") {
  check_refused(wrong_sizes_and_dtypes());
}
TEST_CASE("overlaps, impossible times, impossible groups") { check_refused(overlaps_and_times()); }

TEST_CASE("in a group the ranks are those of the group") {
  const auto seen = observe({.world_size = 5}, [](Comm& dist) {
    Comm odd = dist.split(dist.rank() % 2);
    if (dist.rank() == 3) odd.send(zeros(1), 2);
  });
  const auto error = require_error<InvalidArgument>(seen);
  CHECK(error.rank() == 3);
  CHECK(error.peer() == -1);  // the world has a rank 2, which is not meant
  CHECK(contains(error.what(), "0 to 1"));
}

TEST_CASE("a slice of another rank's tensor is refused in every role") {
  using Call = std::function<void(Comm&, Tensor & mine, Tensor & theirs)>;
  const Call calls[] = {
      [](Comm& d, T&, T& theirs) { d.send(theirs, 0); },
      [](Comm& d, T&, T& theirs) { d.recv(theirs, 0); },
      [](Comm& d, T& mine, T& theirs) { d.sendrecv(mine, 0, theirs, 0); },
      [](Comm& d, T& mine, T& theirs) { d.sendrecv(theirs, 0, mine, 0); },
      [](Comm& d, T&, T& theirs) { (void)d.isend(chunk(theirs, 1, 2), 0); },
      [](Comm& d, T&, T& theirs) { (void)d.irecv(theirs, 0); },
      [](Comm& d, T&, T& theirs) { d.broadcast(theirs, 0); },
      [](Comm& d, T&, T& theirs) { d.reduce(theirs, 0); },
      [](Comm& d, T&, T& theirs) { d.all_reduce(theirs); },
      [](Comm& d, T& mine, T& theirs) { d.all_gather(chunk(mine, 0, 3), theirs); },
  };
  for (std::size_t i = 0; i < std::size(calls); ++i) {
    CAPTURE(i);
    Tensor* shared = nullptr;
    const auto seen = observe({.world_size = 3}, [&](Comm& dist) {
      Tensor tensor = full(6, 1.0f);
      if (dist.rank() == 2) shared = &tensor;
      dist.barrier();
      if (dist.rank() == 1) calls[i](dist, tensor, *shared);
      dist.barrier();  // rank 2's tensor lives until here
    });
    INFO(what_of(seen.thrown));
    const auto error = require_error<InvalidArgument>(seen);
    CHECK(error.rank() == 1);
    CHECK(contains(error.what(), "rank 2"));  // the owner
  }
}

TEST_CASE("tensors made outside of the world, or in an earlier one, may be used by any rank") {
  const Tensor outside = full(3, 2.0f);
  std::vector<Tensor> earlier;
  for (auto& tensor : run_ranks({.world_size = 2}, [](Comm&) { return full(3, 5.0f); }).results) {
    earlier.push_back(std::move(tensor));
  }
  const auto run = run_ranks({.world_size = 2}, [&](Comm& dist) {
    // Each rank uses the tensor that the other one created last time.
    Tensor& mine = earlier[static_cast<std::size_t>(1 - dist.rank())];
    if (dist.rank() == 0) dist.send(outside, 1);
    if (dist.rank() == 1) dist.recv(mine, 0);
    dist.all_reduce(mine);
    return element(mine, 2);
  });
  CHECK(run.results == std::vector<float>{7, 7});
}

TEST_CASE("arithmetic that is refused names the rank") {
  const auto seen = observe({.world_size = 3}, [](Comm& dist) {
    Tensor tensor = zeros(3);
    if (dist.rank() == 2) tensor += zeros(4);
  });
  const auto error = require_error<InvalidArgument>(seen);
  CHECK(error.rank() == 2);
  for (const char* value : {"rank 2", "3", "4"}) CHECK(contains(error.what(), value));
}

TEST_CASE("a refused call leaves its communicator as it was: the next one works") {
  const auto run = run_ranks({.world_size = 2}, [](Comm& dist) {
    Tensor tensor = full(2, static_cast<float>(dist.rank()));
    int refused = 0;
    const auto attempt = [&](auto call) {
      try {
        call();
      } catch (const InvalidArgument&) {
        ++refused;
      }
    };
    if (dist.rank() == 0) {
      attempt([&] { dist.send(tensor, 2); });
      attempt([&] { dist.all_reduce(Slice()); });
      attempt([&] { dist.sendrecv(tensor, 1, tensor, 1); });
      attempt([&] { (void)dist.irecv(tensor, -1); });
      attempt([&] { dist.all_gather(tensor, tensor); });
    }
    Tensor in = zeros(2);
    dist.sendrecv(tensor, 1 - dist.rank(), in, 1 - dist.rank());
    dist.all_reduce(tensor);
    return std::vector<float>{element(in, 0), element(tensor, 0), static_cast<float>(refused)};
  });
  CHECK(run.results[0] == std::vector<float>{1, 1, 5});
  CHECK(run.results[1] == std::vector<float>{0, 1, 0});
}

}  // namespace
}  // namespace rankbox::testing
