// The report: nccl-tests' keys, and ours.
#include "cli/perf/report_json.h"

#include <algorithm>
#include <cstdlib>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace rankbox::perf {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

Json report(const Plan& plan, const std::vector<Row>& rows) {
  const Occasion occasion = {
      "2025-01-31 23:59:58", "2025-01-31 23:59:59", {"program", "-b", "8"}, {"NCCL_ALGO=RING"}};
  const Device device = {"box", 4711, 3, "0000:1B:00.0", "NVIDIA H200", 1 << 30};
  return Json::parse(to_json(plan, {device}, rows, totals_of(rows, nullptr), occasion));
}

Row row_of(CollectiveKind collective) {
  Row row;
  row.collective = collective;
  row.algorithm = "ring";
  row.world_size = 4;
  row.elements = row.count = 256;
  row.bytes = 1024;
  row.seconds = 2e-6;
  row.latency_seconds = 3e-6;
  row.wrong = 0;
  row.vs_native = 1.5;
  row.virtual_seconds = 4e-6;
  return row;
}

TEST_CASE("the keys are those of nccl-tests, in their order") {
  const Json json = report(Plan(), {row_of(CollectiveKind::kAllReduce)});
  std::vector<std::string> names = keys(json);
  // Ours.
  names.erase(std::find(names.begin(), names.end(), "backend"));
  names.erase(std::find(names.begin(), names.end(), "cluster"));
  CHECK(names == std::vector<std::string>{"version", "start_time", "args", "env", "nccl_version",
                                          "config", "devices", "results", "out_of_bounds",
                                          "average_bus_bandwidth", "end_time"});
  CHECK(json.at("version").is_number_integer());
  CHECK(json.at("start_time") == "2025-01-31 23:59:58");
  CHECK(json.at("end_time") == "2025-01-31 23:59:59");
  CHECK(json.at("args") == Json{"program", "-b", "8"});
  CHECK(json.at("env") == Json{"NCCL_ALGO=RING"});
  CHECK(json.at("out_of_bounds") == Json{{"count", 0}, {"okay", true}});
  CHECK(json.at("average_bus_bandwidth").at("bandwidth").get<double>() ==
        doctest::Approx(1.5 * 0.512));
  CHECK(json.at("average_bus_bandwidth").at("okay") == "unchecked");
  const Json& device = json.at("devices").at(0);
  CHECK(device.at("rank") == 0);
  CHECK(device.at("pid") == 4711);
  CHECK(device.at("hostname") == "box");
  CHECK(device.at("device") == 3);
  CHECK(device.at("device_hex") == "0000:1B:00.0");
  CHECK(device.at("device_info") == "NVIDIA H200");
  CHECK(json.at("config").at("devices") == json.at("devices"));
}

TEST_CASE("a result is in place or out of place, and the other is null") {
  const Json json =
      report(Plan(), {row_of(CollectiveKind::kAllReduce), row_of(CollectiveKind::kAllGather)});
  REQUIRE(json.at("results").size() == 2);
  const Json& in_place = json.at("results").at(0);
  CHECK(keys(in_place) == std::vector<std::string>{"size", "count", "type", "redop", "root",
                                                   "out_of_place", "in_place", "collective",
                                                   "algorithm", "ranks", "vs_native", "latency",
                                                   "virtual_us"});
  CHECK(in_place.at("size") == 1024);
  CHECK(in_place.at("count") == 256);
  CHECK(in_place.at("type") == "float");
  CHECK(in_place.at("redop") == "sum");
  CHECK(in_place.at("root") == -1);
  CHECK(in_place.at("out_of_place").is_null());
  CHECK(keys(in_place.at("in_place")) ==
        std::vector<std::string>{"time", "alg_bw", "bus_bw", "nwrong"});
  CHECK(in_place.at("in_place").at("time").get<double>() == doctest::Approx(2));
  CHECK(in_place.at("in_place").at("alg_bw").get<double>() == doctest::Approx(0.512));
  CHECK(in_place.at("in_place").at("bus_bw").get<double>() == doctest::Approx(0.768));
  CHECK(in_place.at("in_place").at("nwrong") == 0);
  CHECK(in_place.at("algorithm") == "ring");
  CHECK(in_place.at("vs_native").get<double>() == doctest::Approx(1.5));
  CHECK(in_place.at("latency").get<double>() == doctest::Approx(3));
  CHECK(in_place.at("virtual_us").get<double>() == doctest::Approx(4));

  const Json& out_of_place = json.at("results").at(1);
  CHECK(out_of_place.at("in_place").is_null());
  CHECK(out_of_place.at("redop") == "none");
  CHECK(out_of_place.at("out_of_place").at("bus_bw").get<double>() == doctest::Approx(0.384));
}

TEST_CASE("what was not checked, or has no closed form, is null") {
  Row row = row_of(CollectiveKind::kAllReduce);
  row.wrong.reset();
  row.virtual_seconds.reset();
  const Json json = report(Plan(), {row});
  CHECK(json.at("results").at(0).at("in_place").at("nwrong").is_null());
  CHECK(json.at("results").at(0).at("virtual_us").is_null());
}

TEST_CASE("wrong rows are counted") {
  Row row = row_of(CollectiveKind::kAllReduce);
  row.wrong = 3;
  const Json json = report(Plan(), {row, row_of(CollectiveKind::kAllReduce)});
  CHECK(json.at("out_of_bounds") == Json{{"count", 1}, {"okay", false}});
  CHECK(json.at("results").at(0).at("in_place").at("nwrong") == 3);
}

TEST_CASE("config has the step that was used") {
  Plan plan;
  CHECK(report(plan, {}).at("config").at("step_bytes") == 1 << 20);
  plan.step_factor = 4;
  CHECK(report(plan, {}).at("config").at("step_factor") == 4);
  CHECK_FALSE(report(plan, {}).at("config").contains("step_bytes"));
}

TEST_CASE("of the environment, only what a run depends on is told") {
  setenv("NCCL_TEST_OF_RANKBOX", "1", 1);
  setenv("SOME_SECRET_TOKEN", "hush", 1);
  const std::vector<std::string> variables = relevant_environment();
  CHECK(std::find(variables.begin(), variables.end(), "NCCL_TEST_OF_RANKBOX=1") != variables.end());
  for (const std::string& variable : variables) {
    CHECK(variable.find("hush") == std::string::npos);
  }
}

}  // namespace
}  // namespace rankbox::perf
