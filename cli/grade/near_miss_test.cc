#include "cli/grade/near_miss.h"

#include <doctest/doctest.h>

namespace rankbox::cli {

TEST_CASE("a name that differs by case, ending or what is behind is a miss of that exercise") {
  for (const char* name :
       {"Broadcast_Ring.cc", "broadcast_ring_final.cc", "broadcast-ring2.cpp", "broadcast_ring.CC",
        "broadcast_ring.cc.txt", ".broadcast_ring.cc", "broadcast_ring (1).cc"}) {
    CAPTURE(name);
    CHECK(near_miss(name).exercise == "broadcast_ring");
    CHECK(near_miss(name).why.starts_with(name));
  }
  CHECK(near_miss("broadcast_ring_pipelined_2.cc").exercise == "broadcast_ring_pipelined");
}

TEST_CASE("an exercise's name is no miss, and neither is another") {
  for (const char* name :
       {"broadcast_ring.cc", "racecar.cc", "mine.cc", "broadcast_ring.txt", "README.md", ".cc"})
    CHECK(near_miss(name).exercise == "");
}

}  // namespace rankbox::cli
