// Which ranks share a machine.
#include "launch/placement.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "launch/reserved_port.h"
#include "launch/test_processes.h"

namespace rankbox::launcher {
namespace {

std::string in_words(const Placement& placement) {
  return std::to_string(placement.node) + "/" + std::to_string(placement.nodes) + " " +
         std::to_string(placement.local_rank) + "/" + std::to_string(placement.local_size);
}

TEST_CASE("nodes are numbered by their first ranks, ranks of a node in their order") {
  struct Row {
    std::vector<std::string> hosts;
    std::vector<std::string> expected;
  };
  const std::vector<Row> rows = {
      {{"a"}, {"0/1 0/1"}},
      {{"a", "a", "a"}, {"0/1 0/3", "0/1 1/3", "0/1 2/3"}},
      {{"b", "b", "a"}, {"0/2 0/2", "0/2 1/2", "1/2 0/1"}},
      {{"a", "b", "a", "b"}, {"0/2 0/2", "1/2 0/2", "0/2 1/2", "1/2 1/2"}},
  };
  for (const Row& row : rows) {
    const std::vector<Placement> all = placements(row.hosts);
    REQUIRE(all.size() == row.expected.size());
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(in_words(all[i]) == row.expected[i]);
  }
}

TEST_CASE("processes of this machine find that they share it") {
  const ReservedPort port;
  const auto outcomes = run_processes(3, [&](int rank) {
    StarOptions options;
    options.rank = rank;
    options.world_size = 3;
    options.at.port = port.number();
    Star star(options);
    return in_words(find_placement(star));
  });
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(outcomes[static_cast<std::size_t>(rank)].text == "0/1 " + std::to_string(rank) + "/3");
  }
  CHECK(this_host().size() > 36);  // a name, and a boot's identity
}

}  // namespace
}  // namespace rankbox::launcher
