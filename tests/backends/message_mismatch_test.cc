// If two sides of a message disagree, both get an error, and nothing is copied.
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/backends/values.h"
#include "tests/backends/worlds.h"

namespace rankbox::testing {
namespace {

/// Rank 0 sends, rank 1 receives, `late` sleeps first, and all others wait in a barrier.
void delay(const Comm& dist, int late) {
  if (dist.rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

/// REQUIRES: the ranks recorded their lines.
void check_both_told(const Observation& seen, const std::string& sent,
                     const std::string& received) {
  require_error<MessageMismatch>(seen);
  for (int rank : {0, 1}) {
    CAPTURE(rank);
    const auto error = require_error<MessageMismatch>(seen, rank);
    INFO(error.what());
    CHECK(error.rank() == rank);
    CHECK(error.peer() == 1 - rank);
    CHECK(error.line() == line_of(seen, rank));
    CHECK(is_file(error.file(), "message_mismatch_test.cc"));
    for (int each : {0, 1}) {
      CHECK(contains(error.what(),
                     "message_mismatch_test.cc:" + std::to_string(line_of(seen, each))));
    }
    for (const std::string& value : {sent, received, std::string("rank 0"), std::string("rank 1")})
      CHECK(contains(error.what(), value));
  }
  for (int rank = 2; rank < static_cast<int>(seen.ranks.size()); ++rank)
    CHECK(ended_as<Aborted>(seen, rank));
}

void note_line(std::string& note, int line) { note = std::to_string(line); }

TEST_CASE("a message of another size: both ranks fail, nothing is copied") {
  for (int p : worlds_that_compare(2)) {
    for (int late : {0, 1}) {
      for (const auto& [sent, received] : {std::pair{3, 4},
                                           {4, 3},
                                           {0, 1},
                                           {1, 0},
                                           {1000, 999},
                                           {100'000, 200'000},
                                           {70'000, 2}}) {
        const Observation seen = observe(world(p), [&, sent = sent, received = received](
                                                       Comm& dist, std::string& note) {
          delay(dist, late);
          // Those two call it as well: a call of 0 elements need not wait.
          if (dist.rank() > 1) return dist.barrier();
          if (dist.rank() == 0) {
            const Tensor tensor = full(sent, 1.0f);
            note_line(note, __LINE__ + 1);
            dist.send(tensor, 1);
            return dist.barrier();
          }
          Tensor tensor = full(received, -1.0f);
          note_line(note, __LINE__ + 2);
          try {
            dist.recv(tensor, 0);
            dist.barrier();
          } catch (...) {
            if (to_host(tensor) != std::vector<float>(static_cast<std::size_t>(received), -1.0f))
              note = "0 was written to";
            throw;
          }
        });
        CAPTURE(p);
        CAPTURE(late);
        CAPTURE(sent);
        check_both_told(seen, std::to_string(sent) + " float32",
                        std::to_string(received) + " float32");
      }
    }
  }
}

TEST_CASE("a message of another dtype, even of as many bytes") {
  for (int p : worlds_that_compare(2)) {
    for (int late : {0, 1}) {
      const Observation seen = observe(world(p), [&](Comm& dist, std::string& note) {
        delay(dist, late);
        if (dist.rank() > 1) return dist.barrier();
        if (dist.rank() == 0) {
          const Tensor tensor = full(6, 1.0f);
          note_line(note, __LINE__ + 1);
          return dist.send(tensor, 1);
        }
        TensorOf<std::int32_t> tensor = full<std::int32_t>(6, -1);
        note_line(note, __LINE__ + 2);
        try {
          dist.recv(tensor, 0);
        } catch (...) {
          if (to_host(tensor) != std::vector<std::int32_t>(6, -1)) note = "0 was written to";
          throw;
        }
      });
      check_both_told(seen, "6 float32", "6 int32");
    }
  }
}

TEST_CASE("asynchronous messages tell it to whoever waits") {
  for (int p : worlds_that_compare(2)) {
    for (int late : {0, 1}) {
      const Observation seen = observe(world(p), [&](Comm& dist, std::string& note) {
        delay(dist, late);
        if (dist.rank() > 1) return dist.barrier();
        Tensor tensor = zeros(dist.rank() + 1);
        Request request;
        if (dist.rank() == 0) {
          note_line(note, __LINE__ + 1);
          request = dist.isend(tensor, 1);
        } else {
          note_line(note, __LINE__ + 1);
          request = dist.irecv(tensor, 0);
        }
        dist.wait(request);
      });
      check_both_told(seen, "1 float32", "2 float32");
    }
  }
}

TEST_CASE("the second of three messages under way does not fit") {
  for (int p : worlds_that_compare(2)) {
    for (int late : {0, 1}) {
      const Observation seen = observe(world(p), [&](Comm& dist, std::string& note) {
        delay(dist, late);
        if (dist.rank() > 1) return dist.barrier();
        std::vector<Tensor> boxes;
        for (int i = 0; i < 3; ++i) boxes.push_back(zeros(i == 1 ? 5 + dist.rank() : 4));
        std::vector<Request> requests;
        note_line(note, __LINE__ + 2);
        for (Tensor& box : boxes)
          requests.push_back(dist.rank() == 0 ? dist.isend(box, 1) : dist.irecv(box, 0));
        dist.wait_all(requests);
      });
      check_both_told(seen, "5 float32", "6 float32");
    }
  }
}

TEST_CASE("a sendrecv that disagrees with its neighbour") {
  for (int p : worlds_that_compare(2)) {
    for (int late : {0, 1}) {
      const Observation seen = observe(world(p), [&](Comm& dist, std::string& note) {
        delay(dist, late);
        if (dist.rank() > 1) return dist.barrier();
        Tensor in = zeros(2);
        const Tensor out = zeros(dist.rank() == 0 ? 3 : 2);
        note_line(note, __LINE__ + 1);
        dist.sendrecv(out, 1 - dist.rank(), in, 1 - dist.rank());
      });
      check_both_told(seen, "3 float32", "2 float32");
    }
  }
}

TEST_CASE("a sendrecv whose receive does not fit says so, though its send is still under way") {
  for (int p : worlds_that_compare(3)) {
    const Observation seen = observe(world(p), [&](Comm& dist) {
      delay(dist, 1);
      Tensor two = zeros(2);
      Tensor three = zeros(3);
      if (dist.rank() == 0) dist.sendrecv(two, 2, three, 1);
      if (dist.rank() == 1) dist.send(two, 0);
      if (dist.rank() == 2) dist.recv(two, 1);  // and would then match rank 0's message
    });
    CHECK(ended_as<MessageMismatch>(seen));
    CHECK(ended_as<MessageMismatch>(seen, 1));
    CHECK(ended_as<MessageMismatch>(seen, 0));
    CHECK(ended_as<Aborted>(seen, 2));
  }
}

TEST_CASE("the mismatch of a sendrecv names the rank of the half that does not fit") {
  for (int p : worlds_that_compare(3)) {
    for (bool send_fits : {false, true}) {
      for (int late : {0, 1}) {
        CAPTURE(send_fits);
        CAPTURE(late);
        const Observation seen = observe(world(p), [&](Comm& dist) {
          delay(dist, late);
          if (dist.rank() > 2) return dist.barrier();
          Tensor two = zeros(2);
          Tensor three = zeros(3);
          // Rank 0 sends to 1 and receives from 2, or the other way round.
          const int dst = send_fits ? 2 : 1;
          if (dist.rank() == 0) dist.sendrecv(two, dst, three, 3 - dst);
          if (dist.rank() == 1 && !send_fits) dist.recv(three, 0);
          if (dist.rank() == 1 && send_fits) dist.send(two, 0);
          if (dist.rank() == 2) dist.recv(two, 1);  // waits until the end
        });
        CHECK(require_error<MessageMismatch>(seen).rank() == 0);
        CHECK(require_error<MessageMismatch>(seen, 0).peer() == 1);
        CHECK(require_error<MessageMismatch>(seen, 1).peer() == 0);
      }
    }
  }
}

TEST_CASE("a mismatch that no rank waits for is reported, and not the deadlock after it") {
  for (int p : worlds_that_compare(3)) {
    for (int late : {0, 1}) {
      const Observation seen = observe(world(p), [&](Comm& dist, std::string& note) {
        delay(dist, late);
        if (dist.rank() > 2) return dist.barrier();
        Tensor tensor = zeros(dist.rank() + 1);
        Request request;
        note_line(note, __LINE__ + 1 + dist.rank());
        if (dist.rank() == 0) request = dist.isend(tensor, 1);
        if (dist.rank() == 1) request = dist.irecv(tensor, 0);
        Tensor other = zeros(5);
        dist.recv(other, (dist.rank() + 1) % 3);  // they wait in a circle
        dist.wait(request);
      });
      const auto error = require_error<MessageMismatch>(seen);
      INFO(error.what());
      CHECK(error.rank() == 0);
      CHECK(error.line() == line_of(seen, 0));
      for (int rank : {0, 1}) {
        CHECK(contains(error.what(),
                       "message_mismatch_test.cc:" + std::to_string(line_of(seen, rank))));
      }
    }
  }
}

TEST_CASE("what irecv was given does not fit, while its rank waits for something else") {
  for (int p : worlds_that_compare(2)) {
    const Observation seen = observe(world(p), [&](Comm& dist) {
      Tensor tensor = zeros(dist.rank() + 3);
      if (dist.rank() == 0) dist.send(tensor, 1);
      if (dist.rank() == 1) {
        const Request request = dist.irecv(tensor, 0);
        dist.barrier();
        dist.wait(request);
      }
      dist.barrier();
    });
    CHECK(ended_as<MessageMismatch>(seen));
    CHECK(ended_as<MessageMismatch>(seen, 0));
    // The receiver gets the mismatch when it waits, or Aborted.
    CHECK((ended_as<MessageMismatch>(seen, 1) || ended_as<Aborted>(seen, 1)));
  }
}

TEST_CASE("a buffered message that does not fit fails its receiver, and stops its sender") {
  for (int p : worlds_that_buffer(2)) {
    for (int late : {0, 1}) {
      RunOptions options = world(p);
      options.buffering = Buffering::unbounded();
      const Observation seen = observe(options, [&](Comm& dist, std::string& note) {
        delay(dist, late);
        Tensor tensor = zeros(dist.rank() + 1);
        if (dist.rank() == 0) {
          note_line(note, __LINE__ + 1);
          dist.send(tensor, 1);
        } else if (dist.rank() == 1) {
          note_line(note, __LINE__ + 1);
          dist.recv(tensor, 0);
        }
        dist.barrier();
      });
      require_error<MessageMismatch>(seen);
      CHECK(ended_as<Aborted>(seen, 0));
      const auto error = require_error<MessageMismatch>(seen, 1);
      for (int rank : {0, 1}) {
        CHECK(contains(error.what(),
                       "message_mismatch_test.cc:" + std::to_string(line_of(seen, rank))));
      }
      for (const char* value : {"rank 0", "1 float32"}) CHECK(contains(error.what(), value));
    }
  }
}

TEST_CASE("within a group both sides are named by their ranks in the world") {
  for (int p : worlds_that_compare(4)) {
    const Observation seen = observe(world(p), [](Comm& dist) {
      Comm odd = dist.split(dist.rank() % 2);
      Tensor tensor = zeros(dist.rank());
      if (dist.rank() == 3) odd.send(tensor, 0);
      if (dist.rank() == 1) odd.recv(tensor, 1);
    });
    const auto error = require_error<MessageMismatch>(seen);
    for (const char* value : {"rank 3", "3 float32", "rank 1", "1 float32"})
      CHECK(contains(error.what(), value));
  }
}

TEST_CASE("a mismatch that both sides swallow still fails the run") {
  for (int p : worlds_that_compare(2)) {
    const Observation seen = observe(world(p), [](Comm& dist) {
      Tensor tensor = zeros(dist.rank() + 1);
      try {
        if (dist.rank() == 0) dist.send(tensor, 1);
        if (dist.rank() == 1) dist.recv(tensor, 0);
      } catch (const MessageMismatch&) {
      }
    });
    CHECK(ended_as<MessageMismatch>(seen));
  }
}

}  // namespace
}  // namespace rankbox::testing
