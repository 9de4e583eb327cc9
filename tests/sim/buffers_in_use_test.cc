// Slices of started operations: a tensor that is freed too early, and slices that overlap.
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox::testing {
namespace {

std::string line(int number) { return "buffers_in_use_test.cc:" + std::to_string(number); }

/// Starts an operation with slices of `tensor`, on rank 0 of 2.
using Start = std::function<Request(Comm&, Tensor&)>;

struct Operation {
  const char* name;
  Start start;
  std::function<void(Comm&, Tensor&)> other;  // what rank 1 does meanwhile
  int peer;
};

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = {
      {"isend", [](Comm& d, Tensor& t) { return d.isend(t, 1); },
       [](Comm& d, Tensor& t) { d.recv(t, 0); }, 1},
      {"isend of a chunk", [](Comm& d, Tensor& t) { return d.isend(chunk(t, 1, 2), 1); },
       [](Comm& d, Tensor& t) { d.recv(chunk(t, 1, 2), 0); }, 1},
      {"irecv", [](Comm& d, Tensor& t) { return d.irecv(t, 1); },
       [](Comm& d, Tensor& t) { d.send(t, 0); }, 1},
      {"all_reduce_async", [](Comm& d, Tensor& t) { return d.all_reduce_async(t); },
       [](Comm& d, Tensor& t) { d.wait(d.all_reduce_async(t)); }, -1},
      {"broadcast_async", [](Comm& d, Tensor& t) { return d.broadcast_async(t, 0); },
       [](Comm& d, Tensor& t) { d.wait(d.broadcast_async(t, 0)); }, -1},
  };
  return all;
}

TEST_CASE("a tensor freed before the wait is one error with both lines, on every schedule") {
  for (const Operation& row : operations()) {
    if (!wants_row(row.name)) continue;
    for (const Buffering buffering : {Buffering::rendezvous(), Buffering::unbounded()}) {
      for (const bool watches : {false, true}) {
        for (const int late : {0, 1}) {
          const char* const name = row.name;
          CAPTURE(name);
          CAPTURE(watches);
          CAPTURE(late);
          int waited = 0;
          std::vector<float> arrived;
          const Observation seen = observe(
              {.world_size = 2, .buffering = buffering, .watch_buffers = watches}, [&](Comm& dist) {
                delay(dist, late);
                std::optional<Tensor> tensor = full(64, 7.0f);
                if (dist.rank() == 1) {
                  row.other(dist, *tensor);
                  arrived = to_host(*tensor);
                  return;
                }
                const Request request = row.start(dist, *tensor);
                tensor.reset();
                const Tensor other = full(64, -1.0f);  // may have the same address
                waited = __LINE__ + 1;
                dist.wait(request);
              });
          const auto error = require_error<BufferReused>(seen);
          INFO(error.what());
          CHECK(error.rank() == 0);
          CHECK(error.peer() == row.peer);
          CHECK(lacks(error.what(), {line(error.line()), line(waited)}) == "");
          CHECK(error.line() != waited);
          CHECK(ended_as<BufferReused>(seen, 0));
          // Whatever arrived before the end is what was sent.
          for (const float value : arrived) CHECK((value == 7.0f || value == 14.0f));
        }
      }
    }
  }
}

TEST_CASE("a tensor may move, and be freed after the wait or before the start") {
  const auto run = run_ranks({.world_size = 2}, [](Comm& dist) {
    std::vector<Tensor> kept;
    std::vector<Request> requests;
    { const Tensor gone = zeros(8); }
    for (int i = 0; i < 5; ++i) {
      kept.push_back(full(8, static_cast<float>(dist.rank() == 0 ? i : -1)));  // moves the others
      requests.push_back(dist.rank() == 0 ? dist.isend(kept.back(), 1)
                                          : dist.irecv(kept.back(), 0));
    }
    dist.wait_all(requests);
    std::vector<float> firsts;
    for (const Tensor& tensor : kept) firsts.push_back(element(tensor, 0));
    kept.clear();
    return firsts;
  });
  CHECK(run.results[1] == std::vector<float>{0, 1, 2, 3, 4});
}

/// Two operations of rank 0 on a tensor of 8 elements.
struct Pair {
  const char* name;
  Start first;
  Start second;
  bool fits;
};

const std::vector<Pair>& pairs() {
  static const auto send = [](int begin, int end) {
    return [=](Comm& d, Tensor& t) { return d.isend(Slice(t).sub(begin, end), 1); };
  };
  static const auto recv = [](int begin, int end) {
    return [=](Comm& d, Tensor& t) { return d.irecv(Slice(t).sub(begin, end), 1); };
  };
  static const auto sum = [](int begin, int end) {
    return [=](Comm& d, Tensor& t) { return d.all_reduce_async(Slice(t).sub(begin, end)); };
  };
  static const std::vector<Pair> all = {
      {"two isends", send(0, 8), send(0, 8), true},
      {"two isends that overlap", send(0, 6), send(2, 8), true},
      {"isend, then irecv", send(0, 8), recv(0, 8), false},
      {"irecv, then isend", recv(0, 8), send(0, 8), false},
      {"two irecvs", recv(0, 8), recv(0, 8), false},
      {"irecvs that share an element", recv(0, 5), recv(4, 8), false},
      {"irecvs that share an element, from behind", recv(4, 8), recv(0, 5), false},
      {"irecv within a long isend", send(0, 8), recv(3, 4), false},
      {"irecv around a short isend", send(3, 4), recv(0, 8), false},
      {"irecvs side by side", recv(0, 4), recv(4, 8), true},
      {"isend beside irecv", send(4, 8), recv(0, 4), true},
      {"empty slices", recv(0, 8), recv(4, 4), true},
      {"all_reduce_async, then isend", sum(0, 8), send(7, 8), false},
      {"irecv, then all_reduce_async", recv(2, 3), sum(0, 8), false},
  };
  return all;
}

TEST_CASE("a started operation shares no memory with what another one writes to") {
  for (const Pair& row : pairs()) {
    if (!wants_row(row.name)) continue;
    const char* const name = row.name;
    CAPTURE(name);
    const Observation seen = observe({.world_size = 2}, [&](Comm& dist) {
      if (dist.rank() == 1) return;
      Tensor tensor = zeros(8);
      std::vector<Request> requests;
      requests.push_back(row.first(dist, tensor));
      requests.push_back(row.second(dist, tensor));
    });
    // It fails in any case: rank 1 takes no part, and no request is waited for.
    if (row.fits) {
      CHECK(ended_as<UnreceivedMessage>(seen));
    } else {
      const auto error = require_error<InvalidArgument>(seen);
      INFO(error.what());
      CHECK(error.rank() == 0);
      CHECK(lacks(error.what(), {"rank 0", "overlap", line(error.line())}) == "");
      CHECK(std::string(error.what()).find("buffers_in_use_test.cc") !=
            std::string(error.what()).rfind("buffers_in_use_test.cc"));
    }
  }
}

/// A blocking call of rank 0 while its `first` is open; `other` is what rank 1 does.
struct Blocking {
  const char* name;
  Start first;
  std::function<void(Comm&, Tensor&)> then;
  std::function<void(Comm&, Tensor&)> other;
  bool fits;
};

const std::vector<Blocking>& blocking_calls() {
  static const auto send = [](Comm& d, Tensor& t) { return d.isend(t, 1); };
  static const auto recv = [](Comm& d, Tensor& t) { return d.irecv(Slice(t).sub(0, 4), 1); };
  static const auto nothing = [](Comm&, Tensor&) {};
  static const std::vector<Blocking> all = {
      {"isend, then recv", send, [](Comm& d, Tensor& t) { d.recv(t, 1); }, nothing, false},
      {"irecv, then recv", recv, [](Comm& d, Tensor& t) { d.recv(Slice(t).sub(3, 8), 1); }, nothing,
       false},
      {"irecv, then send", recv, [](Comm& d, Tensor& t) { d.send(t, 1); }, nothing, false},
      {"irecv, then sendrecv that sends it", recv,
       [](Comm& d, Tensor& t) { d.sendrecv(t, 1, zeros(8), 1); }, nothing, false},
      {"isend, then sendrecv into it", send,
       [](Comm& d, Tensor& t) { d.sendrecv(zeros(8), 1, t, 1); }, nothing, false},
      {"isend, then all_reduce", send, [](Comm& d, Tensor& t) { d.all_reduce(t); }, nothing, false},
      {"irecv, then broadcast from here", recv, [](Comm& d, Tensor& t) { d.broadcast(t, 0); },
       nothing, false},
      {"isend, then send", send, [](Comm& d, Tensor& t) { d.send(t, 1); },
       [](Comm& d, Tensor& t) {
         d.recv(t, 0);
         d.recv(t, 0);
       },
       true},
      {"isend, then broadcast from here", send, [](Comm& d, Tensor& t) { d.broadcast(t, 0); },
       [](Comm& d, Tensor& t) {
         d.recv(t, 0);
         d.broadcast(t, 0);
       },
       true},
      {"irecv, then recv beside it", recv,
       [](Comm& d, Tensor& t) { d.recv(Slice(t).sub(4, 8), 1); },
       [](Comm& d, Tensor& t) {
         d.send(Slice(t).sub(0, 4), 0);
         d.send(Slice(t).sub(4, 8), 0);
       },
       true},
  };
  return all;
}

TEST_CASE("a blocking call shares no memory with what a started operation writes to, or it reads") {
  for (const Blocking& row : blocking_calls()) {
    if (!wants_row(row.name)) continue;
    const char* const name = row.name;
    CAPTURE(name);
    const Observation seen = observe({.world_size = 2}, [&](Comm& dist) {
      Tensor tensor = zeros(8);
      if (dist.rank() == 1) return row.other(dist, tensor);
      const Request request = row.first(dist, tensor);
      row.then(dist, tensor);
      dist.wait(request);
    });
    if (row.fits) {
      CHECK(what_of(seen.thrown) == what_of(nullptr));
    } else {
      const auto error = require_error<InvalidArgument>(seen);
      INFO(error.what());
      CHECK(lacks(error.what(), {"rank 0", "overlap", line(error.line())}) == "");
    }
  }
}

TEST_CASE("a buffer can be used again once its operation was waited for") {
  const auto run = run_ranks({.world_size = 2}, [](Comm& dist) {
    Tensor tensor = zeros(4);
    for (int i = 0; i < 3; ++i) {
      const Tensor mine = full(4, static_cast<float>(i));
      if (dist.rank() == 0) {
        dist.wait(dist.isend(mine, 1));
        dist.wait(dist.irecv(tensor, 1));
      } else {
        dist.wait(dist.irecv(tensor, 0));
        dist.wait(dist.isend(tensor, 0));
      }
    }
    return element(tensor, 3);
  });
  CHECK(run.results == std::vector<float>{2, 2});
}

TEST_CASE("many open receives and sends among each other are told apart") {
  constexpr int kPieces = 500;
  const auto run = run_ranks({.world_size = 2}, [](Comm& dist) {
    Tensor out = full(3 * kPieces, static_cast<float>(dist.rank()));
    Tensor in = zeros(3 * kPieces);
    std::vector<Request> requests;
    const int other = 1 - dist.rank();
    for (int i = 0; i < kPieces; ++i) {
      const int at = i * 7 % kPieces;  // in another order than in memory
      requests.push_back(dist.irecv(chunk(in, at, kPieces), other));
      requests.push_back(dist.isend(chunk(out, at, kPieces), other));
    }
    int refused = 0;
    for (int i = 0; i < kPieces; ++i) {
      try {
        requests.push_back(dist.irecv(Slice(out).sub(3 * i + 2, 3 * i + 3), other));
      } catch (const InvalidArgument&) {
        ++refused;
      }
    }
    dist.wait_all(requests);
    return std::pair(refused, element(in, 3 * kPieces - 1));
  });
  CHECK(run.results == std::vector<std::pair<int, float>>{{kPieces, 1.0f}, {kPieces, 0.0f}});
}

}  // namespace
}  // namespace rankbox::testing
