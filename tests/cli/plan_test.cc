// `rankbox plan`: what it prints, as text, JSON and a picture.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"
#include "tests/support/run_tests.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

TEST_CASE("a plan ranks layouts that fit, and has the best use of each strategy") {
  const CommandResult planned = rankbox({"plan", "--model", "7B", "--batch", "1M", "--cluster",
                                         "h100-efa", "--gpus", "256", "--json"});
  INFO(planned.output);
  REQUIRE(planned.exit_code == 0);
  const Json plan = Json::parse(planned.output);
  CHECK(plan.at("parameters") == 6'738'415'616);
  CHECK(plan.at("batch") == 256);
  REQUIRE(plan.at("plans").size() == 5);
  double before = 0;
  for (const Json& each : plan.at("plans")) {
    CHECK(each.at("fits") == true);
    CHECK(each.at("memory_bytes").at("all") <= plan.at("gpu").at("usable_bytes"));
    CHECK(each.at("seconds").at("all").get<double>() >= 0.994 * before);
    before = each.at("seconds").at("all");
  }
  for (const char* strategy : {"DDP", "ZeRO-1", "ZeRO-2", "FSDP", "HSDP", "TP", "CP", "1F1B"}) {
    CAPTURE(strategy);
    CHECK(plan.at("strategies").contains(strategy));
  }
  CHECK_FALSE(plan.at("strategies").contains("EP"));  // no experts
}

TEST_CASE("what was fixed is fixed, and experts may be spread") {
  const CommandResult planned = rankbox({"plan", "--model", "8x7B", "--gpus", "64", "--strategy",
                                         "fsdp", "--expert", "8", "--recompute", "yes", "--json"});
  INFO(planned.output);
  REQUIRE(planned.exit_code == 0);
  for (const Json& each : Json::parse(planned.output).at("plans")) {
    CHECK(each.at("sharding") == "FSDP");
    CHECK(each.at("expert") == 8);
    CHECK(each.at("recomputes") == true);
  }
}

TEST_CASE("if no layout fits the exit code is 1, and the smallest are shown") {
  const CommandResult planned = rankbox({"plan", "--model", "70B", "--gpus", "8"});
  INFO(planned.output);
  CHECK(planned.exit_code == 1);
  CHECK(planned.output.find("none fits") != std::string::npos);
}

TEST_CASE("a plan is drawn") {
  const std::string picture = (fs::path(project()) / "plan.png").string();
  const CommandResult planned = rankbox({"plan", "--gpus", "16", "--plot", picture});
  INFO(planned.output);
  if (planned.exit_code == 1 && planned.output.find("python3-matplotlib") != std::string::npos)
    return testing::pass_over("no matplotlib here");
  REQUIRE(planned.exit_code == 0);
  CHECK(planned.output.find("wrote " + picture) != std::string::npos);
  CHECK(read_file(picture).starts_with("\x89PNG"));
}

}  // namespace
}  // namespace rankbox
