// isend, irecv and wait: in any order and number, mixed with blocking calls.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/backends/values.h"
#include "tests/backends/worlds.h"

namespace rankbox::testing {
namespace {

TEST_CASE("all ranks send to all, themselves included, and wait in any order") {
  for (int p : world_sizes()) {
    for (std::int64_t count : {0, 3, 13, 999, 70'001}) {
      const auto run = run_ranks(world(p), [&](Comm& dist) {
        std::vector<Tensor> in;
        std::vector<Tensor> out;
        for (int peer = 0; peer < p; ++peer) {
          in.push_back(zeros(count));
          out.push_back(from_host(letter<float>(dist.rank(), peer, count)));
        }
        std::vector<Request> receives;
        std::vector<Request> sends;
        for (int peer = 0; peer < p; ++peer)
          receives.push_back(dist.irecv(in[static_cast<std::size_t>(peer)], peer));
        for (int peer = p - 1; peer >= 0; --peer)
          sends.push_back(dist.isend(out[static_cast<std::size_t>(peer)], peer));
        // In reverse order of their start; ranks disagree on which kind comes first.
        if (dist.rank() % 2 == 0) dist.wait_all(sends);
        std::reverse(receives.begin(), receives.end());
        for (const Request& receive : receives) dist.wait(receive);
        if (dist.rank() % 2 != 0) dist.wait_all(sends);
        dist.wait_all(sends);  // waiting again for a finished request is harmless
        int wrong = 0;
        for (int peer = 0; peer < p; ++peer) {
          wrong += to_host(in[static_cast<std::size_t>(peer)]) !=
                   letter<float>(peer, dist.rank(), count);
        }
        return wrong;
      });
      CAPTURE(p);
      CAPTURE(count);
      for (int wrong : run.results) CHECK(wrong == 0);
    }
  }
}

TEST_CASE("hundreds of messages under way between two ranks, received in order") {
  // More messages than a backend may have distinct numbers.
  constexpr int kMessages = 300;
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      int wrong = 0;
      for (int lap = 0; lap < 15 && dist.rank() < 2; ++lap) {
        std::vector<TensorOf<std::int64_t>> boxes;
        std::vector<Request> requests;
        for (int i = 0; i < kMessages; ++i)
          boxes.push_back(full<std::int64_t>(1 + i % 3, dist.rank() == 0 ? lap * 1000 + i : -1));
        for (auto& box : boxes)
          requests.push_back(dist.rank() == 0 ? dist.isend(box, 1) : dist.irecv(box, 0));
        if (lap % 2 == 1) std::reverse(requests.begin(), requests.end());
        dist.wait_all(requests);
        for (int i = 0; i < kMessages; ++i)
          wrong += to_host(boxes[static_cast<std::size_t>(i)])[0] != lap * 1000 + i;
      }
      return wrong;
    });
    CHECK(run.results[0] == 0);
    CHECK(run.results[1] == 0);
  }
}

TEST_CASE("asynchronous and blocking calls of one pair keep their order") {
  constexpr int kMessages = 200;
  for (Buffering buffering : {Buffering::rendezvous(), Buffering::unbounded()}) {
    for (int p : world_sizes(2)) {
      RunOptions options = world(p);
      options.buffering = buffering;
      const auto run = run_ranks(options, [&](Comm& dist) {
        std::vector<std::int64_t> received;
        if (dist.rank() > 1) return received;
        std::vector<TensorOf<std::int64_t>> boxes;
        for (int i = 0; i < kMessages; ++i)
          boxes.push_back(full<std::int64_t>(1, dist.rank() == 0 ? i : -1));
        std::vector<Request> requests;
        for (int i = 0; i < kMessages; ++i) {
          TensorOf<std::int64_t>& box = boxes[static_cast<std::size_t>(i)];
          // Runs of asynchronous calls between blocking ones, with different lengths on the two
          // sides.
          const bool async = i % (dist.rank() == 0 ? 7 : 5) != 0;
          if (dist.rank() == 0) {
            async ? requests.push_back(dist.isend(box, 1)) : dist.send(box, 1);
          } else {
            async ? requests.push_back(dist.irecv(box, 0)) : dist.recv(box, 0);
          }
        }
        dist.wait_all(requests);
        for (const auto& box : boxes) received.push_back(to_host(box)[0]);
        return received;
      });
      CHECK(run.results[1] == run.results[0]);
      CHECK(run.results[1].back() == kMessages - 1);
    }
  }
}

TEST_CASE("both ways at once, large, with computing in between") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      if (dist.rank() > 1) return true;
      constexpr std::int64_t kCount = 600'000;
      const int partner = 1 - dist.rank();
      const Tensor out = from_host(letter<float>(dist.rank(), 0, kCount));
      Tensor in = zeros(kCount);
      Tensor own = full(kCount, 1.0f);
      const Request receive = dist.irecv(in, partner);
      const Request send = dist.isend(out, partner);
      dist.compute(1e-3);
      own += out;
      dist.wait(send);
      own += full(kCount, 1.0f);
      dist.wait(receive);
      std::vector<float> expected = letter<float>(dist.rank(), 0, kCount);
      for (float& x : expected) x += 2;
      return to_host(in) == letter<float>(partner, 0, kCount) && to_host(own) == expected;
    });
    for (bool right : run.results) CHECK(right);
  }
}

TEST_CASE("wait_all takes a list, and a copy of a request stands for the same operation") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      if (dist.rank() > 1) return 0.0f;
      const int partner = 1 - dist.rank();
      const Tensor out = full(2, static_cast<float>(dist.rank() + 5));
      Tensor in = zeros(2);
      Request receive = dist.irecv(in, partner);
      const Request copy = receive;
      const Request send = dist.isend(out, partner);
      receive = Request();  // the copy keeps it alive
      dist.wait_all({send, copy});
      dist.wait(copy);
      return to_host(in)[1];
    });
    CHECK(run.results[0] == 6);
    CHECK(run.results[1] == 5);
  }
}

TEST_CASE("a rank may send to itself what it has begun to receive, and the other way round") {
  for (int p : world_sizes()) {
    for (std::int64_t count : {3, 100'000}) {
      const auto run = run_ranks(world(p), [&](Comm& dist) {
        const Tensor a = from_host(letter<float>(dist.rank(), 0, count));
        Tensor b = zeros(count);
        const Request receive = dist.irecv(b, dist.rank());
        dist.send(a, dist.rank());
        dist.wait(receive);
        Tensor c = zeros(count);
        const Request send = dist.isend(b, dist.rank());
        dist.recv(c, dist.rank());
        dist.wait(send);
        return to_host(c) == letter<float>(dist.rank(), 0, count);
      });
      for (bool right : run.results) CHECK(right);
    }
  }
}

TEST_CASE("a request outlives the communicator it came from") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      if (dist.rank() > 1) return 0.0f;
      Tensor box = full(4, dist.rank() == 0 ? 8.0f : 0.0f);
      std::vector<Request> requests;
      {
        Comm copy = dist;
        requests.push_back(dist.rank() == 0 ? copy.isend(box, 1) : copy.irecv(box, 0));
      }
      dist.wait_all(requests);
      return to_host(box)[3];
    });
    CHECK(run.results[1] == 8.0f);
  }
}

}  // namespace
}  // namespace rankbox::testing
