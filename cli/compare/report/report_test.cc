#include "cli/compare/report/report.h"

#include <cstdlib>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cli/compare/report/report_json.h"
#include "sim/clusters/clusters.h"
#include "tests/support/text.h"

namespace rankbox::cli {
namespace {

Row make_row(const char* algorithm, std::int64_t bytes, double wall, double virtual_seconds) {
  Row row;
  row.algorithm = algorithm;
  row.whose = row.algorithm == "native" ? Whose::kNative : Whose::kReference;
  row.world_size = 4;
  row.bytes = bytes;
  row.elements = bytes / 4;
  row.time = Times{wall, wall * 0.99, wall * 1.01, 20};
  row.p99_seconds = 3 * wall;
  if (row.whose == Whose::kNative) row.mean_seconds = 1.5 * wall;
  row.virtual_seconds = virtual_seconds;
  row.wrong = 0;
  row.cost = Cost{6, 1.5 * static_cast<double>(bytes), 0.75 * static_cast<double>(bytes)};
  return row;
}

Plan laptop() {
  Plan plan;
  plan.cluster = cluster_presets().front();
  return plan;
}

// Three sizes: tree wins the first two on the wall clock, and only the first on the virtual clock.
std::vector<Row> crossing_rows() {
  return {make_row("native", 64, 1e-6, 1e-6),    make_row("tree", 64, 2e-6, 2e-6),
          make_row("ring", 64, 4e-6, 4e-6),      make_row("native", 1024, 1e-6, 1e-6),
          make_row("tree", 1024, 3e-6, 5e-6),    make_row("ring", 1024, 4e-6, 4e-6),
          make_row("native", 65536, 1e-6, 1e-6), make_row("tree", 65536, 90e-6, 90e-6),
          make_row("ring", 65536, 40e-6, 40e-6)};
}

/// Returns the line of the winners on this machine.
std::string line_of_this_machine(const std::string& text) {
  const std::size_t at = text.find("this machine");
  if (at == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;  // 0 if there is none
  return text.substr(begin, text.find('\n', at) + 1 - begin);
}

TEST_CASE("the summary names the winners, and the size where one overtakes another") {
  const std::string lines = format_winners(laptop(), crossing_rows());
  const std::string here = line_of_this_machine(lines);
  CHECK(testing::lacks(here, {"all_reduce", "4 ranks", "tree is fastest from 64 B to 1 KiB",
                              "ring at 64 KiB"}) == "");
  const std::string model = lines.substr(0, lines.find('\n') + 1);  // first
  CHECK(testing::lacks(model, {"laptop", "tree is fastest at 64 B", "ring from 1 KiB to 64 KiB",
                               "ring overtakes tree at about 704 B"}) == "");
}

TEST_CASE("the summary says when one topology wins at all sizes; native does not compete") {
  std::vector<Row> rows = crossing_rows();
  for (Row& row : rows) {
    if (row.algorithm == "ring") {
      row.time = Times{1e-7, 1e-7, 1e-7, 20};
    }
  }
  const std::string lines = format_winners(laptop(), rows);
  CHECK(testing::lacks(line_of_this_machine(lines), {"ring", "64 B", "64 KiB"}) == "");
}

TEST_CASE("a lead that may be noise does not dethrone") {
  std::vector<Row> rows = crossing_rows();
  for (Row& row : rows) {
    if (row.bytes == 65536 && row.algorithm == "tree") {
      row.time = Times{41e-6, 39e-6, 50e-6, 20};
    }
  }
  const std::string lines = format_winners(laptop(), rows);
  CHECK(testing::lacks(line_of_this_machine(lines), {"tree is fastest from 64 B to 64 KiB."}) ==
        "");
}

TEST_CASE("topologies with the same virtual time are fastest together, as long as it is the same") {
  struct Contest {
    double tree_at_1k;
    const char* says;
  };
  for (const Contest& contest :
       {Contest{1e-6, "laptop: naive, tree and ring are fastest from 64 B to 1 KiB."},
        {2e-6, "laptop: naive and ring are fastest from 64 B to 1 KiB."}}) {
    const std::string winners = format_winners(
        laptop(), {make_row("native", 64, 1, 1e-6), make_row("naive", 64, 1, 1e-6),
                   make_row("tree", 64, 1, 1e-6), make_row("ring", 64, 1, 1e-6),
                   make_row("naive", 1024, 1, 1e-6), make_row("tree", 1024, 1, contest.tree_at_1k),
                   make_row("ring", 1024, 1, 1e-6)});
    CHECK(testing::lacks(winners, {contest.says}) == "");
  }
}

TEST_CASE("no summary where only one topology ran") {
  CHECK(
      format_winners(laptop(), {make_row("native", 64, 1, 1), make_row("tree", 64, 1, 1)}).empty());
}

/// Returns the columns that a terminal needs for a line of UTF-8 without wide characters.
std::size_t columns(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line) {
    count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  }
  return count;
}

TEST_CASE("in a narrow terminal the columns follow one another, and a failure is reported once") {
  setenv("COLUMNS", "40", 1);
  std::vector<Row> rows = {make_row("native", 1024, 1e-6, 1e-6), make_row("ring", 1024, 4e-6, 4e-6),
                           make_row("tree", 1024, 3e-6, 5e-6)};
  rows[2].failure = RowFailure{"deadlock", "all wait", "", 0};
  const std::string table = format_contest(laptop(), rows, false);
  unsetenv("COLUMNS");
  CAPTURE(table);
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) CHECK(columns(line) <= 40);
  for (const char* part : {"time", "p99", "vs native", "GB/s", "laptop", "steps", "sent", "added",
                           "4.00 µs", "1.5 n", "0.75 n"}) {
    CAPTURE(part);
    CHECK(table.find(part) != std::string::npos);
  }
  CHECK(table.find("deadlock") == table.rfind("deadlock"));
}

TEST_CASE("tables fit into 100 columns and hold no escapes without colour") {
  Plan plan = laptop();
  plan.cluster = cluster_named("a100-infiniband");
  std::vector<Row> rows = {make_row("native", std::int64_t{1} << 36, 123.4, 123.4),
                           make_row("scatter_allgather", std::int64_t{1} << 36, 999.9e-6, 99.96e-3),
                           make_row("hierarchical", std::int64_t{1} << 36, 999.9e-6, 99.96e-3)};
  rows[1].cost = Cost{12345, 1.2345 * 68719476736.0, 0};
  rows[1].vs_native = 1234.56;
  rows[2].p99_seconds = 99.96e-3;
  const std::string table = legend(plan, true) + format_contest(plan, rows, false);
  CHECK(table.find('\033') == std::string::npos);
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(columns(line) <= 100);
  }
}

TEST_CASE("vs ring is a column where NCCL's ring was measured, within 100 columns") {
  Plan plan = laptop();
  plan.cluster = cluster_named("h100-nvlink");
  std::vector<Row> rows = crossing_rows();
  rows.resize(3);
  CHECK(format_contest(plan, rows, false).find("vs ring") == std::string::npos);
  rows.insert(rows.begin() + 1, make_row("native-ring", 64, 2e-6, 2e-6));
  rows[2].vs_ring = 1.25;
  const std::string table = format_contest(plan, rows, false);
  CHECK(testing::lacks(table, {" vs native vs ring ", " 1.00 x  1.25 x "}) == "");
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(columns(line) <= 100);
  }
  CHECK(testing::lacks(legend(plan, true), {"vs ring"}) == "");
  CHECK(legend(plan, false).find("vs ring") == std::string::npos);
}

TEST_CASE("where ranks outnumber cores, virtual time alone has winners, and a note says why") {
  struct World {
    int cores;
    bool shares;
  };
  for (const World& world : {World{0, false}, {2, true}, {3, true}, {4, false}, {64, false}}) {
    CAPTURE(world.cores);
    Plan plan = laptop();
    plan.cores = world.cores;
    std::vector<Row> rows = crossing_rows();
    const std::string winners = format_winners(plan, rows);
    CHECK(testing::lacks(winners, {"all_reduce, 4 ranks, laptop: tree is fastest at 64 B"}) == "");
    CHECK((winners.find("this machine") == std::string::npos) == world.shares);
    const std::string note = note_on_cores(plan, rows);
    CHECK(note.empty() != world.shares);
    if (world.shares) {
      const std::string numbers = "4 ranks take turns on " + std::to_string(world.cores) + " cores";
      CHECK(testing::lacks(note, {numbers, "Virtual time"}) == "");
    }
    // At 1 KiB the tree wins on this machine, the ring by virtual time.
    const std::string table = format_contest(plan, {rows.begin() + 3, rows.begin() + 6}, true);
    CHECK((table.find("* tree") == std::string::npos) == world.shares);
    CHECK(table.find("4.00 µs *") != std::string::npos);
    CHECK(table.find(world.shares ? "\033[1;32m  ring" : "\033[1;32m* tree") != std::string::npos);
  }
  Plan plan = laptop();
  plan.cores = 2;
  std::vector<Row> untimed = {make_row("tree", 64, 1, 1)};
  untimed.front().time.reset();
  CHECK(note_on_cores(plan, untimed).empty());
}

TEST_CASE("where a topology is ahead of measured native times, a note says what is not priced") {
  Plan plan = laptop();
  std::vector<Row> rows = crossing_rows();  // native is the first at each size
  plan.cluster.native = {NativeMode()};
  CHECK(note_on_native(plan, rows).empty());
  rows[3].virtual_seconds = 4.5e-6;  // at 1 KiB the tree takes 5 and the ring 4
  CHECK(testing::lacks(note_on_native(plan, rows), {"1 of 3", "docs/limits.md"}) == "");
  plan.cluster.native.clear();  // as fast as the best known algorithm: nothing was measured
  CHECK(note_on_native(plan, rows).empty());
}

TEST_CASE("a wrong result stands out in its row") {
  std::vector<Row> rows = crossing_rows();
  rows[1].wrong = 3;
  CHECK(format_contest(laptop(), rows, false).find("WRONG: 3") != std::string::npos);
}

Row failed_row() {
  Row row = make_row("ring", 64, 1, 1);
  row.whose = Whose::kYours;
  row.time.reset();
  row.failure = RowFailure{"deadlock", "ranks 0, 1 blocked", "ring.cc", 14};
  return row;
}

TEST_CASE("yours has a separate row, competes, and wins by name") {
  std::vector<Row> rows = crossing_rows();
  Row yours = make_row("ring", 64, 1e-6, 1e-6);
  yours.whose = Whose::kYours;
  rows.insert(rows.begin() + 3, yours);
  rows.resize(4);
  CHECK(format_contest(laptop(), rows, false).find("\n* ring (yours)") != std::string::npos);
  const std::string winners = line_of_this_machine(format_winners(laptop(), rows));
  CHECK(testing::lacks(winners, {"ring (yours)", "64 B"}) == "");
}

TEST_CASE("a row of yours that failed has its kind and place, and never wins") {
  std::vector<Row> rows = crossing_rows();
  rows.resize(2);
  rows.push_back(failed_row());
  const std::string table = format_contest(laptop(), rows, false);
  CHECK(table.find("ring (yours)     deadlock: ranks 0, 1 blocked at ring.cc:14\n") !=
        std::string::npos);
  CHECK(format_winners(laptop(), rows).empty());
}

TEST_CASE("a row that this world cannot run says why in place of figures, and is no failure") {
  std::vector<Row> rows = crossing_rows();
  rows.resize(3);
  rows[2].time.reset();
  rows[2].virtual_seconds.reset();
  rows[2].skipped = "nodes of 5 and 4 ranks";
  const Plan plan = laptop();
  CHECK(format_contest(plan, rows, false).find("  skipped: nodes of 5 and 4 ranks\n") !=
        std::string::npos);
  Plan without_data = plan;
  without_data.without_data = true;
  CHECK(format_contest(without_data, rows, false).find("  skipped: nodes of 5 and 4 ranks\n") !=
        std::string::npos);
  const nlohmann::ordered_json json = to_json(plan, rows, {"sim", "", {}, {}});
  CHECK(json.at("results").at(2).at("skipped") == "nodes of 5 and 4 ranks");
  CHECK(json.at("results").at(1).at("skipped").is_null());
}

TEST_CASE("without data the table has virtual times alone, and winners by ranks for each size") {
  Plan plan = laptop();
  plan.without_data = true;
  plan.ranks = {3, 4};
  plan.sizes = {64, 1024};
  std::vector<Row> rows;
  for (const int ranks : plan.ranks) {
    for (const std::int64_t bytes : plan.sizes) {
      for (const char* algorithm : {"native", "tree", "ring"}) {
        const bool wins = (std::string(algorithm) == "tree") == (bytes == 64 || ranks == 3);
        const std::int64_t rounded = bytes / 4 / ranks * ranks * 4;
        Row row = make_row(algorithm, rounded, 0, wins ? 1e-6 : 2e-6);
        row.collective = CollectiveKind::kAllGather;
        row.time.reset();
        row.wrong.reset();
        row.world_size = ranks;
        rows.push_back(row);
      }
    }
  }
  const std::string table = format_contest(plan, {rows.begin(), rows.begin() + 3}, false);
  CHECK(testing::lacks(table, {"vs native", "1.00 x", "GB/s", "* tree", "6", "1.5 n"}) == "");
  CHECK(table.find("p99") == std::string::npos);
  const std::string winners = format_winners(plan, rows);
  CHECK(testing::lacks(winners, {"all_gather, 64 B, laptop: tree is fastest from 3 to 4 ranks.",
                                 "all_gather, 1 KiB, laptop: tree is fastest at 3 ranks, ring at 4 "
                                 "ranks."}) == "");
  CHECK(winners.find("this machine") == std::string::npos);
}

TEST_CASE("JSON has every row in the agreed shape") {
  const nlohmann::ordered_json json = to_json(laptop(), crossing_rows(), {"sim", "", {}, {}});
  CHECK(json.at("version") == 1);
  CHECK(json.at("cluster").at("name") == "laptop");
  REQUIRE(json.at("results").size() == 9);
  const nlohmann::ordered_json& row = json.at("results").at(1);
  CHECK(row.at("collective") == "all_reduce");
  CHECK(row.at("algorithm") == "tree");
  CHECK(row.at("ranks") == 4);
  CHECK(row.at("bytes") == 64);
  CHECK(row.at("count") == 16);
  CHECK(row.at("time_us").at("median").get<double>() == doctest::Approx(2));
  CHECK(row.at("time_us").at("iterations") == 20);
  CHECK(row.at("p99_us").get<double>() == doctest::Approx(6));
  CHECK(row.at("mean_us").is_null());
  CHECK(json.at("results").at(0).at("mean_us").get<double>() == doctest::Approx(1.5));
  CHECK(row.at("vs_ring").is_null());
  CHECK(row.at("cost").at("steps") == 6);
  CHECK(row.at("wrong") == 0);
  for (const char* key : {"vs_native", "busbw_gbps", "virtual_us"}) {
    CHECK(row.at(key).is_number());
  }
  CHECK(row.at("whose") == "reference");
  CHECK(row.at("failure").is_null());
}

TEST_CASE("in JSON, what is not known is null") {
  const nlohmann::ordered_json row =
      to_json(laptop(), {failed_row()}, {"mpi", "", {}, {}}).at("results").at(0);
  CHECK(row.at("whose") == "yours");
  for (const char* key :
       {"time_us", "latency_us", "p99_us", "mean_us", "vs_native", "vs_ring", "busbw_gbps"}) {
    CAPTURE(key);
    CHECK(row.at(key).is_null());
  }
  CHECK(row.at("failure").at("kind") == "deadlock");
  CHECK(row.at("failure").at("line") == 14);
}

}  // namespace
}  // namespace rankbox::cli
