#include "cli/compare/names.h"

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "tests/support/text.h"

namespace rankbox::cli {
namespace {

using enum CollectiveKind;

std::string complaint(const std::string& collectives, const std::string& algorithms) {
  try {
    parse_algorithms(algorithms, parse_collectives(collectives));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("collectives: one, some in the order given, or all") {
  CHECK(parse_collectives("all_reduce") == std::vector{kAllReduce});
  CHECK(parse_collectives("reduce,broadcast,reduce") == std::vector{kReduce, kBroadcast});
  CHECK(parse_collectives("all").size() == 9);
}

TEST_CASE("algorithms: those of any of the collectives") {
  CHECK(parse_algorithms("", {kAllReduce}).empty());
  CHECK(parse_algorithms("ring,tree", {kAllReduce}) == std::vector<std::string>{"ring", "tree"});
  CHECK(parse_algorithms("bruck,ring", {kAllReduce, kAllGather}).size() == 2);
}

TEST_CASE("an unknown name is one line with the names there are") {
  CHECK(testing::lacks(complaint("allreduce", ""), {"\"allreduce\"", "all_reduce"}) == "");
  CHECK(testing::lacks(complaint("", ""), {"\"\""}) == "");
  CHECK(testing::lacks(complaint("broadcast,", ""), {"\"\""}) == "");
  CHECK(testing::lacks(complaint("all_reduce", "bruck"), {"\"bruck\"", "rabenseifner"}) == "");
}

}  // namespace
}  // namespace rankbox::cli
