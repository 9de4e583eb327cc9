// Operations reserved for a tensor's owner, permitted overlaps, and integer ranges.
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox::testing {
namespace {

/// Runs two ranks; rank 1 gets access to rank 0's tensor of four ones, as threads can.
template <class Use>
std::exception_ptr use_foreign(Use use) {
  return observe({.world_size = 2},
                 [&](Comm& dist) {
                   static Tensor* shared = nullptr;
                   Tensor mine = full(4, 1.0f);
                   if (dist.rank() == 0) shared = &mine;
                   dist.barrier();
                   if (dist.rank() == 1) use(mine, *shared);
                   dist.barrier();
                 })
      .thrown;
}

TEST_CASE("arithmetic with another rank's tensor is refused") {
  using Use = void (*)(Tensor & mine, Tensor & theirs);
  const std::pair<const char*, Use> uses[] = {
      {"accumulate from", [](Tensor& mine, Tensor& theirs) { mine += theirs; }},
      {"accumulate into", [](Tensor& mine, Tensor& theirs) { theirs += mine; }},
      {"copy from", [](Tensor& mine, Tensor& theirs) { copy(mine, theirs); }},
      {"copy into", [](Tensor& mine, Tensor& theirs) { copy(theirs, mine); }},
      {"a chunk",
       [](Tensor& mine, Tensor& theirs) { copy(chunk(mine, 0, 2), chunk(theirs, 0, 2)); }},
      {"clone", [](Tensor&, Tensor& theirs) { clone(theirs); }},
      {"scale", [](Tensor&, Tensor& theirs) { theirs *= 2.0f; }},
  };
  for (const auto& [name, use] : uses) {
    if (!wants_row(name)) continue;
    CAPTURE(name);
    const std::exception_ptr thrown = use_foreign(use);
    CHECK(error_as<InvalidArgument>(thrown).has_value());
    for (const char* rank : {"rank 0", "rank 1"}) CHECK(contains(what_of(thrown), rank));
  }
}

TEST_CASE("errors of slices and arithmetic carry the rank and the line") {
  using Use = void (*)(Tensor & tensor);
  const std::pair<const char*, Use> uses[] = {
      {"sub", [](Tensor& tensor) { (void)Slice(tensor).sub(3, 9); }},
      {"chunk", [](Tensor& tensor) { (void)chunk(tensor, 4, 4); }},
      {"accumulate", [](Tensor& tensor) { tensor += zeros(3); }},
      {"copy", [](Tensor& tensor) { copy(tensor, zeros(3)); }},
  };
  for (const auto& [name, use] : uses) {
    if (!wants_row(name)) continue;
    CAPTURE(name);
    const Observation seen = observe({.world_size = 2}, [&, use = use](Comm& dist) {
      Tensor tensor = zeros(4);
      if (dist.rank() == 1) use(tensor);
    });
    const auto error = require_error<InvalidArgument>(seen);
    CHECK(error.rank() == 1);
    CHECK(error.op() == name);
    CHECK(lacks(error.what(), {"rank 1", "ownership_test.cc:" + std::to_string(error.line())}) ==
          "");
    CHECK(error.line() > 0);
  }
}

TEST_CASE("a call on another thread than the rank's own is refused, with its line") {
  int line = 0;
  std::exception_ptr thrown;
  const auto run =
      run_ranks({.world_size = 2, .executor = ExecutorKind::kThreads}, [&](Comm& dist) {
        Tensor tensor = full(1, 1.0f);
        if (dist.rank() == 1) {
          std::thread([&] {
            try {
              line = __LINE__ + 1;
              dist.send(tensor, 0);
            } catch (...) {
              thrown = std::current_exception();
            }
          }).join();
          dist.send(tensor, 0);
        } else {
          dist.recv(tensor, 1);
        }
        return element(tensor, 0);
      });
  const auto error = error_as<InvalidArgument>(thrown);
  REQUIRE(error.has_value());
  CHECK(error->rank() == 1);
  CHECK(error->op() == "send");
  CHECK(error->line() == line);
  CHECK(run.results[0] == 1.0f);
}

TEST_CASE("slices that overlap without being the same are refused") {
  Tensor tensor = from_host({1.0f, 2.0f, 3.0f, 4.0f});
  const Slice all = tensor;
  CHECK_THROWS_AS(copy(all.sub(0, 3), all.sub(1, 4)), InvalidArgument);
  CHECK_THROWS_AS(accumulate(all.sub(1, 3), all.sub(0, 2), ReduceOp::SUM), InvalidArgument);
  CHECK(to_host(tensor) == std::vector<float>{1, 2, 3, 4});
  copy(all, all);
  accumulate(all, all, ReduceOp::SUM);
  copy(all.sub(0, 2), all.sub(2, 4));
  CHECK(to_host(tensor) == std::vector<float>{6, 8, 6, 8});
}

TEST_CASE("native collectives accept a piece in place, and no other overlap") {
  // `shift` elements from the piece's own position in the whole.
  using Call = void (*)(Comm & dist, Slice whole, Slice piece);
  const std::pair<const char*, Call> calls[] = {
      {"gather", [](Comm& dist, Slice whole, Slice piece) { dist.gather(piece, whole, 0); }},
      {"all_gather", [](Comm& dist, Slice whole, Slice piece) { dist.all_gather(piece, whole); }},
      {"scatter", [](Comm& dist, Slice whole, Slice piece) { dist.scatter(whole, piece, 0); }},
      {"reduce_scatter",
       [](Comm& dist, Slice whole, Slice piece) { dist.reduce_scatter(whole, piece); }},
  };
  for (const auto& [name, call] : calls) {
    if (!wants_row(name)) continue;
    for (const int shift : {0, 1}) {
      CAPTURE(name);
      CAPTURE(shift);
      const Observation seen = observe({.world_size = 2}, [&](Comm& dist) {
        Tensor room = full(7, 1.0f);
        const Slice all = room;
        const std::int64_t at = 3 * dist.rank() + shift;
        call(dist, all.sub(0, 6), all.sub(at, at + 3));
      });
      CHECK((seen.thrown == nullptr) == (shift == 0));
      if (shift == 0) continue;
      CHECK(error_as<InvalidArgument>(seen.thrown).has_value());
      CHECK(contains(what_of(seen.thrown), "overlap"));
    }
  }
}

TEST_CASE("integers are scaled and divided by integers") {
  TensorOf<std::int32_t> small = from_host({7, -7, std::numeric_limits<std::int32_t>::min()});
  Slice slice = small;
  for (double factor : {0.5, -1.5, 4e9, std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(factor);
    CHECK_THROWS_AS(slice *= factor, InvalidArgument);
    CHECK_THROWS_AS(slice /= factor, InvalidArgument);
  }
  CHECK_THROWS_AS(slice /= 0.0, InvalidArgument);
  slice *= 2.0;
  slice /= 2.0;
  CHECK(to_host(small) == std::vector<std::int32_t>{7, -7, 0});
  slice /= -1.0;
  CHECK(to_host(small) == std::vector<std::int32_t>{-7, 7, 0});
}

TEST_CASE("a request is waited for by its own rank") {
  const Observation seen = observe({.world_size = 2}, [](Comm& dist) {
    static Comm::Request shared;
    Tensor tensor = zeros(1);
    if (dist.rank() == 0) {
      const Comm::Request mine = dist.isend(tensor, 1);
      shared = mine;
      dist.barrier();
      dist.wait(mine);
    } else {
      dist.barrier();
      dist.wait(shared);
    }
    shared = {};
  });
  CHECK(error_as<InvalidArgument>(seen.thrown).has_value());
  CHECK(contains(what_of(seen.thrown), "rank 0"));  // the owner
}

}  // namespace
}  // namespace rankbox::testing
