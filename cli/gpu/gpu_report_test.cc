// The report with scripts in place of the programs, which print recorded figures or fail.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "cli/support/child.h"
#include "files/temporary_folder.h"
#include "tests/support/text.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Scripts = std::map<std::string, std::string>;

constexpr const char* kHang = "exec sleep 1000";

std::string print(const Json& json) { return fmt::format("cat <<'END'\n{}\nEND\n", json.dump()); }

std::string machine(int gpus) {
  const int pairs = gpus * (gpus - 1);
  return print({{"gpus", std::vector<std::string>(static_cast<std::size_t>(gpus), "GPU X")},
                {"driver", "580.65.06"},
                {"cuda_driver", "13.0"},
                {"cuda_runtime", "13.0"},
                {"nccl", "2.28.9"},
                {"pairs", pairs},
                {"peer_access", pairs},
                {"native_atomics", pairs}});
}

/// @param ratio of accumulate to the copy
std::string bench(double ratio) {
  Json results = Json::array();
  for (const std::int64_t mib : {64, 256, 1024}) {
    for (const auto& [kernel, speed] : {std::pair{"copy", 1.0}, std::pair{"accumulate", ratio}}) {
      results.push_back({{"kernel", kernel},
                         {"bytes", mib << 20},
                         {"bytes_per_second", 4e12 * speed},
                         {"ratio_to_copy", speed}});
    }
  }
  return print({{"results", results}});
}

/// The rows of all collectives, in which a ring takes 1.1 times NCCL's.
Json table(std::int64_t wrong = 0) {
  Json results = Json::array();
  for (const char* const collective : {"broadcast", "reduce", "all_reduce", "gather", "scatter",
                                       "all_gather", "all_to_all", "reduce_scatter", "barrier"}) {
    for (const std::int64_t mib : {64, 256}) {
      for (const char* const algorithm : {"native", "ring", "ring_segmented"}) {
        results.push_back({{"collective", collective},
                           {"algorithm", algorithm},
                           {"bytes", (mib << 20) - 8},
                           // 21 n bytes at 4 TB/s take 5.5 us for 1 MiB.
                           {"time_us", {{"median", 6.0 * static_cast<double>(mib)}}},
                           {"vs_native", 1.5},
                           {"vs_ring", 1.1},
                           {"wrong", wrong}});
      }
    }
  }
  return {{"results", results}};
}

std::string speed(double samples_per_second) {
  return print({{"epochs",
                 {{{"samples_per_second", 1}},
                  {{"samples_per_second", 2}},
                  {{"samples_per_second", samples_per_second}}}}});
}

/// Programs that meet every target, on two GPUs.
Scripts good() {
  // Passes with exactly the variables of each way to start it.
  const std::string test =
      "case ${RANKBOX_REQUIRE_GPU-}:${RANKBOX_GPU_MODE-}:${RANKBOX_NCCL_SHARE_GPU-}:"
      "${CUDA_VISIBLE_DEVICES-}:${RANK-}:${LOCAL_RANK-}:${WORLD_SIZE-} in\n"
      "1:shared:::::|1:auto:::::|1::1:0:[01]:[01]:2|1::::[01]:[01]:2) exit 0;; esac; exit 9\n";
  return {{"gpu_machine", machine(2)},
          {"kernel_bench", bench(0.95)},
          {"rankbox-compare-nccl", print(table())},
          {"rankbox-train-nccl", speed(50000)},
          {"rankbox-train-sim", speed(4000)},
          {"contract/a_test", test},
          {"contract/b_test", test},
          {"kernels/k_test", "exit 0\n"},
          {"compute-sanitizer", "shift 4; exec \"$@\"\n"}};
}

struct Ran {
  int code;
  std::string output;  // both streams
};

/// @param changes scripts in place of good()'s; empty: no such program
Ran report(const TemporaryFolder& folder, const Scripts& changes, const std::string& options) {
  Scripts scripts = good();
  for (const auto& [name, script] : changes) scripts[name] = script;
  for (const auto& [name, script] : scripts) {
    const fs::path path = folder.path(name);
    fs::create_directories(path.parent_path());
    if (script.empty()) continue;
    std::ofstream(path) << "#!/bin/sh\n" << script;
    fs::permissions(path, fs::perms::owner_all);
  }
  ChildOptions child;
  child.command = {"sh", "-c",
                   fmt::format("exec env -i PATH={0}:/usr/bin:/bin RANK=0 WORLD_SIZE=2 "
                               "RANKBOX_GPU_MODE=shared {1} --programs {0} {2}",
                               folder.path("."), std::getenv("RANKBOX_GPU"), options)};
  child.seconds = 60;
  const ChildResult result = run_child(child);
  REQUIRE_FALSE(result.timed_out);
  REQUIRE(WIFEXITED(result.status));
  return {WEXITSTATUS(result.status), result.output};
}

TEST_CASE("programs that meet every target") {
  const TemporaryFolder folder;
  const Ran ran = report(folder, {}, "");
  CHECK(ran.code == 0);
  for (const char* const part :
       {"2 × GPU X, driver 580.65.06, CUDA 13.0", "2 of 2 pairs", "2 of 2; target: all; met",
        "4000 GB/s; measured", "95.0 % of the copy; target: at least 90 %; met",
        "% of the bound of 21 n bytes; target: at least 80 %; met",
        "native 1536 us, ring 1.50x, ring_segmented 1.50x; target: no wrong element; met",
        "1.10 times, 1.50 times native, --segments 2; target: at most 1.15 times with NVLink; met",
        "50000 samples/s, 12.5 times the two cores; target: at least 10 times",
        "1.00 times one GPU", "1 programs without an error; target: no error; met",
        " 0 not met, 0 not measured"}) {
    CHECK(testing::lacks(ran.output, {part}) == "");
  }
  CHECK(ran.output.find('\x1b') == std::string::npos);  // no terminal, no colour
}

TEST_CASE("a line has its value or why there is none, and the exit code says whether all is well") {
  struct Row {
    const char* program;
    std::string script;   // in its place; empty: no such program
    const char* options;  // of --only
    int code;
    const char* part;  // of the text
  };
  for (const Row& row : std::vector<Row>{
           {"gpu_machine", machine(1), "ring", 0, "; not measured, because there is one GPU"},
           {"gpu_machine", machine(1), "collectives", 0, "broadcast, 4 ranks"},
           {"gpu_machine", machine(1), "contract-p", 0, "because there is one GPU"},
           {"kernel_bench", bench(0.5), "kernels", 1, "at least 90 %; not met"},
           {"kernel_bench", "kill -SEGV $$", "kernels", 1, "kernel_bench was ended by signal 11"},
           {"kernel_bench", "exit 1", "sharing", 0, "because the device copy is not measured"},
           {"kernel_bench", "echo on fire >&2; exit 1", "kernels", 1, "because on fire"},
           {"kernel_bench", kHang, "kernels --seconds 0.2", 0, "because the section's 0.2 s ran"},
           {"kernel_bench", "echo fast", "kernels", 1, "kernel_bench did not print JSON"},
           {"kernel_bench", "echo '{}'", "kernels", 1, "because the figures are incomplete: "},
           {"kernel_bench", "exit 0", "kernels --markdown", 1, "| kernels: accumulate, 64 MiB |"},
           {"rankbox-train-nccl", "echo no >&2; exit 2", "train", 0, "measured, because no\n"},
           {"rankbox-train-nccl", "", "train", 0, "rankbox-train-nccl is not among the programs"},
           {"rankbox-compare-nccl", print(table(3)) + "exit 1", "collectives", 1,
            "native 1536 us, ring 1.50x, ring_segmented 1.50x; 9 wrong elements; target: no wrong"},
           {"contract/b_test", "exit 1", "contract-shared", 1,
            "1 of 2; failed: contract/b_test; target: all; not met"},
           {"contract/b_test", "[ \"$RANK\" != 1 ]", "contract-one", 1, "failed: contract/b_test"},
           {"contract/b_test", kHang, "contract-shared --seconds 15", 1,
            "1 of 2; not ended after 5 s: contract/b_test; target: all; not met"},
           {"compute-sanitizer", "exit 99", "sanitizer", 1, "k_test has exit code 99; target: no"},
           {"kernel_bench", "", "kernel,nothing", 2, "contract-one-gpu"},
           {"kernel_bench", "", "kernels --markdown --json -", 2, "--markdown"},
           {"kernel_bench", "", "kernels --json /nowhere/x", 2, "/nowhere/x"},
       }) {
    const TemporaryFolder folder;
    INFO(row.program << " --only " << row.options << ": " << row.script);
    const Ran ran =
        report(folder, {{row.program, row.script}}, std::string("--only ") + row.options);
    CHECK(testing::lacks(ran.output, {row.part}) == "");
    CHECK(ran.code == row.code);
  }
}

TEST_CASE("without a GPU there is one line") {
  const TemporaryFolder folder;
  const Ran ran = report(folder, {{"gpu_machine", "echo no GPU here >&2; exit 1"}}, "");
  CHECK(ran.output == "rankbox-gpu: cannot find out about the GPUs: no GPU here\n");
}

TEST_CASE("JSON on standard output is alone there, and has the programs' own figures") {
  const TemporaryFolder folder;
  const Json json = Json::parse(report(folder, {}, "--only kernels,collectives --json -").output);
  CHECK(json.at("not_met") == 0);
  CHECK(json.at("interrupted") == false);
  CHECK(json.at("details").at("collectives") == table());
  for (const auto& line : json.at("lines")) {
    CAPTURE(line.dump());
    CHECK(line.at("value").is_string());
    CHECK(line.at("target").is_null() == (line.at("state") == "measured"));
  }
}

TEST_CASE("Ctrl-C ends the program that runs, and the report has what there is") {
  const TemporaryFolder folder;
  // The script is a child of the report's process.
  const Scripts interrupts = {{"kernel_bench", std::string("kill -INT $PPID\n") + kHang}};
  const Ran ran =
      report(folder, interrupts, "--only machine,kernels,ring --json " + folder.path("out"));
  CHECK(ran.code == 130);
  CHECK(testing::lacks(ran.output,
                       {"2 of 2 pairs", "because of an interrupt", "; interrupted\n"}) == "");
  const Json json = Json::parse(std::ifstream(folder.path("out")));
  CHECK(json.at("interrupted") == true);
  CHECK(json.at("lines").back().at("section") == "ring");
  CHECK(json.at("lines").back().at("because") == "of an interrupt");
}

}  // namespace
}  // namespace rankbox::cli
