// The output: nccl-tests' lines, with columns of ours to the right.
#include "cli/perf/table.h"

#include <cmath>
#include <limits>
#include <sstream>

#include <doctest/doctest.h>

namespace rankbox::perf {
namespace {

Row all_reduce_row() {
  Row row;
  row.algorithm = "ring";
  row.world_size = 4;
  row.elements = row.count = 1 << 20;
  row.bytes = 4 << 20;
  row.seconds = 100e-6;
  row.latency_seconds = 123.4e-6;
  row.wrong = 0;
  row.vs_native = 1.256;
  row.virtual_seconds = 88.5e-6;
  return row;
}

Row all_gather_row() {
  Row row = all_reduce_row();
  row.collective = CollectiveKind::kAllGather;
  row.count = row.elements / 4;
  return row;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> all;
  for (std::string word; text >> word;) all.push_back(word);
  return all;
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

using Words = std::vector<std::string>;

TEST_CASE("a row: size count type redop root, out-of-place, in-place, and ours") {
  CHECK(words(format_row(all_reduce_row())) == Words{"4194304", "1048576", "float", "sum", "-1",
                                                     "N/A", "N/A", "N/A", "N/A", "100.00", "41.94",
                                                     "62.91", "0", "123.40", "1.26", "88.50"});
  CHECK(words(format_row(all_gather_row())) == Words{"4194304", "262144", "float", "none", "-1",
                                                     "100.00", "41.94", "31.46", "0", "N/A", "N/A",
                                                     "N/A", "N/A", "123.40", "1.26", "88.50"});
}

TEST_CASE("what is not known is not invented") {
  Row row = all_reduce_row();
  row.wrong.reset();
  row.virtual_seconds.reset();
  const Words all = words(format_row(row));
  CHECK(all[12] == "N/A");
  CHECK(all.back() == "-");
  row.wrong = 17;
  CHECK(words(format_row(row))[12] == "17");
}

TEST_CASE("redop and root as nccl-tests write them") {
  Row row = all_reduce_row();
  const std::pair<ReduceOp, const char*> names[] = {{ReduceOp::SUM, "sum"},
                                                    {ReduceOp::PRODUCT, "prod"},
                                                    {ReduceOp::MAX, "max"},
                                                    {ReduceOp::MIN, "min"},
                                                    {ReduceOp::AVG, "avg"}};
  for (const auto& [op, name] : names) {
    row.op = op;
    CHECK(words(format_row(row))[3] == name);
  }
  row.collective = CollectiveKind::kBroadcast;
  row.root = 2;
  CHECK(words(format_row(row))[3] == "none");
  CHECK(words(format_row(row))[4] == "2");
}

TEST_CASE("the heads stand over their columns, to the character") {
  const std::vector<std::string> head = lines(format_columns(all_reduce_row(), Cluster()));
  const std::string row = format_row(all_reduce_row());
  REQUIRE(head.size() == 5);
  CHECK(head[1] == "# all_reduce: ring");
  for (const std::string& line : head) CHECK(line.front() == '#');
  CHECK(head[2].find("out-of-place") != std::string::npos);
  CHECK(head[2].find("in-place", head[2].find("out-of-place") + 12) != std::string::npos);
  CHECK(words(head[3]) == Words{"#", "size", "count", "type", "redop", "root", "time", "algbw",
                                "busbw", "#wrong", "time", "algbw", "busbw", "#wrong", "lat", "vs",
                                "virtual"});
  CHECK(words(head[4]) == Words{"#", "(B)", "(elements)", "(us)", "(GB/s)", "(GB/s)", "(us)",
                                "(GB/s)", "(GB/s)", "(us)", "native", "(us)", "laptop"});
  // Both are aligned to the right: each head ends where its value does.
  const auto ends = [](const std::string& line) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] != ' ' && (i + 1 == line.size() || line[i + 1] == ' ' || line[i + 1] == '\n'))
        all.push_back(i);
    }
    return all;
  };
  std::vector<std::size_t> heads = ends(head[3]);
  heads.erase(heads.begin());  // "#"
  CHECK(heads == ends(row.substr(0, row.size() - 1)));
}

TEST_CASE("large figures keep the columns straight") {
  Row row = all_reduce_row();
  const std::size_t width = format_row(row).size();
  row.bytes = std::int64_t{64} << 30;
  row.elements = row.count = row.bytes / 4;
  row.seconds = 12.3;
  row.latency_seconds = 99.9;
  row.virtual_seconds = 999;
  row.vs_native = 1234.5;
  row.wrong = 999999;
  CHECK(format_row(row).size() == width);
  row.seconds = 1e-9;
  CHECK(format_row(row).size() == width);
}

TEST_CASE("figures are rounded to what fits") {
  const struct {
    double value;
    int width;
    const char* text;
  } table[] = {{0, 7, "0.00"},           {1.234, 7, "1.23"},     {1234.5, 7, "1234.50"},
               {12345.6, 7, "12345.6"},  {123456, 7, "123456"},  {1234567, 7, "1234567"},
               {12345678, 7, "1.2e+07"}, {123.456, 6, "123.46"}, {1234.5, 6, "1234.5"},
               {9.999, 6, "10.00"},      {0.004, 6, "0.00"},     {999.999, 6, "1000.0"}};
  for (const auto& row : table) {
    CAPTURE(row.value);
    CAPTURE(row.width);
    CHECK(format_figure(row.value, row.width) == row.text);
  }
  CHECK(format_figure(std::numeric_limits<double>::infinity(), 7) == "inf");
}

TEST_CASE("the header says what nccl-tests say, and who shares what") {
  Plan plan;
  plan.gpus_per_thread = 2;
  plan.min_bytes = 8;
  plan.max_bytes = 1024;
  const Device device = {"box", 4711, 3, "0000:1B:00.0", "NVIDIA H200", 1 << 30};
  const std::string header = format_header(plan, {device, device});
  for (const std::string& line : lines(header)) CHECK(line.front() == '#');
  for (const char* part :
       {"\n# nThread 1 nGpus 2 minBytes 8 maxBytes 1024 step: 1048576(bytes) warmup iters: 5 "
        "iters: "
        "20 agg iters: 1 validation: 1 graph: 0\n",
        "\n# Using devices\n#  Rank  0 Group  0 Pid   4711 on        box device  3 [0000:1B:00.0] "
        "NVIDIA H200\n#  Rank  1 ",
        "# Ranks 0-1 share device 0000:1B:00.0 of box", "no link between devices is measured",
        "the cluster laptop"}) {
    CAPTURE(part);
    CHECK(header.find(part) != std::string::npos);
  }
  plan.step_factor = 4;
  CHECK(format_header(plan, {device}).find("step: 4(factor)") != std::string::npos);
  CHECK(format_header(plan, {device}).find("One rank: nothing is sent") != std::string::npos);
  Device other = device;
  other.process = 4712;  // on the same GPU
  CHECK(format_header(plan, {device, other}).find("goes through sockets") != std::string::npos);
  other.bus = "0000:3D:00.0";
  CHECK(format_header(plan, {device, other}).find("# Ranks 0-1 share") == std::string::npos);
}

TEST_CASE("the footer counts the rows that are wrong, and averages over all") {
  std::vector<Row> rows = {all_reduce_row(), all_gather_row(), all_gather_row()};
  rows[2].seconds /= 2;
  Totals totals = totals_of(rows, nullptr);
  const double ring = 4194304 / 100e-6;
  CHECK(totals.average_bus_bandwidth == doctest::Approx((1.5 + 0.75 + 1.5) / 3 * ring));
  REQUIRE(totals.algorithms.size() == 2);
  CHECK(totals.algorithms[1].average_bus_bandwidth == doctest::Approx((0.75 + 1.5) / 2 * ring));
  CHECK(format_footer(totals).find("# Out of bounds values : 0 OK\n") != std::string::npos);
  CHECK(format_footer(totals).find("# Avg bus bandwidth    : 52.4288 \n") != std::string::npos);

  rows[0].wrong = 5;
  rows[1].wrong = 1;
  totals = totals_of(rows, nullptr);
  CHECK(totals.out_of_bounds == 2);
  CHECK(format_footer(totals).find("# Out of bounds values : 2 FAILED\n") != std::string::npos);
}

TEST_CASE("NCCL_TESTS_MIN_BW asks for 90% of a bandwidth") {
  const std::vector<Row> rows = {all_reduce_row()};  // 62.9 GB/s
  CHECK(totals_of(rows, nullptr).is_fast_enough());
  CHECK(totals_of(rows, "").is_fast_enough());
  CHECK(totals_of(rows, "69").is_fast_enough());
  CHECK_FALSE(totals_of(rows, "71").is_fast_enough());
  CHECK(format_footer(totals_of(rows, "69")).find(": 62.9146 OK\n") != std::string::npos);
  CHECK(format_footer(totals_of(rows, "71")).find(": 62.9146 FAILED\n") != std::string::npos);
}

TEST_CASE("a barrier has no bandwidth to average") {
  Row row = all_reduce_row();
  row.collective = CollectiveKind::kBarrier;
  row.bytes = row.elements = row.count = 0;
  CHECK(totals_of({row}, nullptr).average_bus_bandwidth == 0);
  CHECK(totals_of({row, all_reduce_row()}, nullptr).average_bus_bandwidth ==
        doctest::Approx(1.5 * 4194304 / 100e-6));
}

}  // namespace
}  // namespace rankbox::perf
