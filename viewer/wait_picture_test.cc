// The picture of a deadlock, line by line.
#include "viewer/wait_picture.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"

namespace rankbox {
namespace {

Wait send(int rank, int peer) { return {rank, "send", {peer}, 64, "ring.cc", 10 + rank}; }

std::string draw(std::vector<Wait> waits, std::vector<int> cycle,
                 const WaitPictureOptions& options = {}) {
  return draw_waits(DeadlockError("", {}, std::move(waits), std::move(cycle)), options);
}

TEST_CASE("a circle goes back to where it began, and others wait for it") {
  CHECK(draw({send(0, 1), send(1, 3), send(2, 1), send(3, 0)}, {0, 1, 3}) ==
        "╭▶ rank 0\n"
        "│    │ send, 64 bytes, ring.cc:10\n"
        "│    ▼\n"
        "│  rank 1\n"
        "│    │ send, 64 bytes, ring.cc:11\n"
        "│    ▼\n"
        "│  rank 3\n"
        "╰────╯ send, 64 bytes, ring.cc:13\n"
        "   rank 2 ──▶ rank 1   send, 64 bytes, ring.cc:12\n");
}

TEST_CASE("a chain ends at a rank that has returned") {
  CHECK(draw({send(0, 2), send(2, 1)}, {0, 2, 1}) ==
        "   rank 0\n"
        "     │ send, 64 bytes, ring.cc:10\n"
        "     ▼\n"
        "   rank 2\n"
        "     │ send, 64 bytes, ring.cc:12\n"
        "     ▼\n"
        "   rank 1 has returned\n");
}

TEST_CASE("a rank that waits for itself") {
  CHECK(draw({send(1, 1)}, {1}) ==
        "╭▶ rank 1\n"
        "╰────╯ send, 64 bytes, ring.cc:11\n");
}

TEST_CASE("without UTF-8, and with display names of files") {
  WaitPictureOptions options;
  options.ascii = true;
  options.display_name = [](const std::string& file) { return "mine/" + file; };
  CHECK(draw({send(0, 1), send(1, 0)}, {0, 1}, options) ==
        ",> rank 0\n"
        "|    | send, 64 bytes, mine/ring.cc:10\n"
        "|    V\n"
        "|  rank 1\n"
        "`----' send, 64 bytes, mine/ring.cc:11\n");
}

TEST_CASE("many ranks are counted, not drawn") {
  std::vector<Wait> waits;
  std::vector<int> cycle;
  for (int rank = 0; rank < 9; ++rank) waits.push_back(send(rank, (rank + 1) % 9));
  for (int rank = 0; rank < 9; ++rank) cycle.push_back(rank);
  for (int rank = 9; rank < 14; ++rank)
    waits.push_back({rank, "barrier", {0, 1, 2, 3, 4}, 0, "b.cc", 1});
  WaitPictureOptions options;
  options.max_ranks = 2;
  CHECK(draw(waits, cycle, options) ==
        "╭▶ rank 0\n"
        "│    │ send, 64 bytes, ring.cc:10\n"
        "│    ▼\n"
        "│  rank 1\n"
        "│    │ send, 64 bytes, ring.cc:11\n"
        "│    ▼\n"
        "│  … 7 more\n"
        "╰────╯ send, 64 bytes, ring.cc:18\n"
        "   rank 9 ──▶ ranks 0, 1, 2, 3 and 1 more   barrier, b.cc:1\n"
        "   rank 10 ──▶ ranks 0, 1, 2, 3 and 1 more   barrier, b.cc:1\n"
        "   … 3 more wait for those\n");
}

TEST_CASE("colour marks the circle, and is optional") {
  WaitPictureOptions options;
  options.colour = true;
  CHECK(draw({send(0, 0)}, {0}, options).find("\033[31m") == 0);
  CHECK(draw({send(0, 0)}, {0}).find('\033') == std::string::npos);
}

TEST_CASE("a run that deadlocks is drawn") {
  try {
    run_world({.world_size = 2}, [](Comm& dist) {
      Tensor tensor = zeros(1);
      dist.recv(tensor, 1 - dist.rank());
    });
    FAIL("expected a deadlock");
  } catch (const DeadlockError& error) {
    CHECK(draw_waits(error).starts_with("╭▶ rank 0\n"));
  }
}

}  // namespace
}  // namespace rankbox
