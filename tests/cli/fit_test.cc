// `rankbox fit`: a log becomes a cluster that `compare --cluster` takes.
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;

/// What all_reduce_perf prints on 8 ranks of one node, whose time is 20 us and 1.75 n / 250 GB/s.
std::string log_of_8() {
  std::string log = "# Collective test starting: all_reduce_perf\n";
  for (int rank = 0; rank < 8; ++rank) {
    log += fmt::format("#  Rank {} Group  0 Pid 7 on box device {} [0000:0{}:00] NVIDIA H100\n",
                       rank, rank, rank);
  }
  log +=
      "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
      "# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)\n";
  for (long size = 8; size <= 1L << 30; size *= 8) {
    const double n = static_cast<double>(size);
    const double us = 20 + 1.75 * n / 250e3;
    const std::string half =
        fmt::format("{:.2f} {:.2f} {:.2f} 0", us, n / us / 1e3, 1.75 * n / us / 1e3);
    log += fmt::format("{} {} float sum -1 {} {}\n", size, size / 4, half, half);
  }
  return log + "# Out of bounds values : 0 OK\n";
}

TEST_CASE("a log becomes a cluster, whose native collective takes what was measured") {
  const fs::path folder = project();
  std::ofstream(folder / "box.log") << log_of_8();
  const CommandResult fitted = rankbox({"fit", "box.log", "--out", "box.toml"});
  INFO(fitted.output);
  REQUIRE(fitted.exit_code == 0);
  CHECK(fitted.output.find("box.toml") != std::string::npos);

  const CommandResult compared =
      rankbox({"compare", "--virtual", "--ranks", "8", "--sizes", "8,1M,1G", "--algorithms", "ring",
               "--mine", "none", "--cluster", "box.toml", "--json", "box.json"});
  INFO(compared.output);
  REQUIRE(compared.exit_code == 0);
  const nlohmann::json report = nlohmann::json::parse(read_file("box.json"));
  CHECK(report.at("cluster").at("name") == "box");
  int rows = 0;
  for (const nlohmann::json& row : report.at("results")) {
    if (row.at("whose") != "native") continue;
    const double n = row.at("bytes");
    CHECK(row.at("virtual_us").get<double>() ==
          doctest::Approx(20 + 1.75 * n / 250e3).epsilon(0.03));
    ++rows;
  }
  CHECK(rows == 3);
}

TEST_CASE("nothing to fit is 1, and another file 2, each with one line of the reason") {
  std::string alone = log_of_8();
  for (int rank = 1; rank < 8; ++rank) {
    const std::size_t at = alone.find(fmt::format("#  Rank {}", rank));
    alone.erase(at, alone.find('\n', at) + 1 - at);
  }
  const fs::path folder = project();
  std::ofstream(folder / "one.log") << alone;
  CHECK(rankbox({"fit", "one.log"}).exit_code == 1);
  CHECK(rankbox({"fit", "exercises/registry.toml"}).exit_code == 2);
}

}  // namespace
}  // namespace rankbox
