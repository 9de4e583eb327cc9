// The forms of a report.
#include "cli/gpu/report.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace rankbox::cli {
namespace {

Machine two_gpus() {
  return {{"NVIDIA H200", "NVIDIA H200"}, "580.65.06", "13.0", "13.0", "2.28.9", 2, 2, 2};
}

/// Returns a report with a line of every state.
Report report_with(std::vector<Line> lines) {
  Report report;
  report.date = "2026-11-22 20:15";
  report.machine = two_gpus();
  report.lines = std::move(lines);
  return report;
}

const Line kGood = {"kernels", "accumulate", "93 %", 0.93, "at least 90 %", State::kMet, "", false};
const Line kBad = {"sharing",       "ring | all",   "71 %", 0.71,
                   "at least 80 %", State::kNotMet, "",     false};
const Line kPlain = {"kernels", "copy", "4000 GB/s", 4000., "", State::kMeasured, "", false};
const Line kMissing = {
    "ring", "segments", "", {}, "at most 1.15 times", State::kNotMeasured, "there is one GPU",
    false};
const Line kFailed = {"train", "mlp", "", {}, "", State::kNotMeasured, "it crashed", true};

TEST_CASE("the exit code is 1 if a measured target is missed or a program failed") {
  struct Row {
    std::vector<Line> lines;
    int code;
  };
  for (const Row& row : std::vector<Row>{
           {{}, 0}, {{kGood, kPlain, kMissing}, 0}, {{kGood, kBad}, 1}, {{kGood, kFailed}, 1}}) {
    CAPTURE(row.lines.size());
    CHECK(report_with(row.lines).exit_code() == row.code);
  }
}

TEST_CASE("a line of the text has what, value, target and state, in colour if wanted") {
  struct Row {
    Line line;
    const char* text;
  };
  for (const Row& row : std::vector<Row>{
           {kGood, "93 %; target: at least 90 %; met"},
           {kPlain, "4000 GB/s; measured"},
           {kMissing, "target: at most 1.15 times; not measured, because there is one GPU"},
           {kFailed, "not measured, because it crashed"}}) {
    CHECK(text_of(row.line, false) == fmt::format("  {:<42} {}\n", row.line.what, row.text));
  }
  CHECK(text_of(kGood, true).find("\x1b[32mmet\x1b[0m") != std::string::npos);
  CHECK(text_of(kBad, true).find("\x1b[31mnot met\x1b[0m") != std::string::npos);
}

TEST_CASE("the table can be pasted into a page") {
  CHECK(to_markdown(report_with({kGood, kBad, kMissing})) ==
        "2026-11-22 20:15, 2 × NVIDIA H200, driver 580.65.06, CUDA 13.0 (driver: 13.0), "
        "NCCL 2.28.9: 1 met, 1 not met, 1 not measured.\n\n"
        "| what | value | target | |\n|---|---|---|---|\n"
        "| kernels: accumulate | 93 % | at least 90 % | met |\n"
        "| sharing: ring \\| all | 71 % | at least 80 % | not met |\n"
        "| ring: segments |  | at most 1.15 times | not measured, because there is one GPU |\n");
}

TEST_CASE("JSON has every field, and null for what is unknown") {
  Report report = report_with({kGood, kMissing});
  report.is_interrupted = true;
  report.details["kernels"] = {{"gpu", "NVIDIA H200"}};
  CHECK(to_json(report).dump() ==
        R"({"version":1,"date":"2026-11-22 20:15","machine":{"cuda_driver":"13.0",)"
        R"("cuda_runtime":"13.0","driver":"580.65.06",)"
        R"("gpus":["NVIDIA H200","NVIDIA H200"],"native_atomics":2,)"
        R"("nccl":"2.28.9","pairs":2,"peer_access":2},"interrupted":true,"met":1,"not_met":0,)"
        R"("not_measured":1,"lines":[{"section":"kernels","what":"accumulate","value":"93 %",)"
        R"("number":0.93,"target":"at least 90 %","state":"met","because":null},)"
        R"({"section":"ring","what":"segments","value":null,"number":null,)"
        R"("target":"at most 1.15 times","state":"not measured","because":"there is one GPU"}],)"
        R"("details":{"kernels":{"gpu":"NVIDIA H200"}}})");
}

TEST_CASE("NVLink is there if all links have atomics, and not on one GPU") {
  Machine machine = two_gpus();
  CHECK(machine.has_nvlink());
  machine.native_atomics = 1;
  CHECK_FALSE(machine.has_nvlink());
  machine.pairs = machine.native_atomics = 0;
  CHECK_FALSE(machine.has_nvlink());
}

}  // namespace
}  // namespace rankbox::cli
