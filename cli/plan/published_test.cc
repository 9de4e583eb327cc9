// What the planner says beside published runs, row by row: at most 25 % off.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "cli/plan/search.h"
#include "sim/clusters/clusters.h"

namespace rankbox::plan {
namespace {

struct Row {
  std::string label;
  double error = 0;  // of the planner's time, as a share of the measured one
};

std::vector<std::map<std::string, std::string>> read_rows() {
  std::ifstream file(std::getenv("PUBLISHED"));
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::vector<std::string> fields;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, ',');) fields.push_back(field);
    if (names.empty()) {
      names = fields;
      continue;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i == 0) rows.emplace_back();
      rows.back()[names[i]] = fields.at(i);
    }
  }
  return rows;
}

template <typename Choice>
Choice choice_named(const std::string& name, std::initializer_list<Choice> all) {
  for (const Choice each : all) {
    if (name_of(each) == name) return each;
  }
  FAIL("unknown ", name);
  return *all.begin();
}

Row price(std::map<std::string, std::string> row) {
  const auto number = [&row](const char* name) { return std::stoll(row[name]); };
  Task task;
  task.model = model_named(row["model"]);
  task.sequence = number("sequence");
  task.batch = number("batch");
  task.gpus = number("gpus");
  task.cluster = cluster_named(row["cluster"]);
  task.gpu = gpu_named("", task.cluster.name);
  Layout layout;
  layout.tensor = number("tensor");
  layout.pipeline = number("pipeline");
  layout.data = task.gpus / layout.tensor / layout.pipeline;
  layout.shard = layout.data;
  layout.chunks = number("chunks");
  layout.micro_batch = number("micro_batch");
  layout.micro_batches = task.batch / layout.data / layout.micro_batch;
  layout.recomputes = row["recomputes"] == "1";
  using enum Sharding;
  using enum Schedule;
  layout.sharding =
      choice_named<Sharding>(row["sharding"], {kNone, kZero1, kZero2, kZero3, kHybrid});
  layout.schedule =
      choice_named<Schedule>(row["schedule"], {kGpipe, k1f1b, kInterleaved, kZeroBubble});
  const Estimate planned = estimate(task, layout);
  const double measured = std::stod(row["measured"]);
  double ratio = 0;  // of times
  if (row["unit"] == "tokens") ratio = measured / planned.tokens_per_gpu;
  if (row["unit"] == "seconds") ratio = planned.seconds.all() / measured;
  if (row["unit"] == "mfu") ratio = measured / planned.mfu;
  const std::string label = fmt::format(
      "{:10} {:16} {:14} {:6} GPUs {:30} {}{:8} measured {:9} error {:+.1f} %", row["source"],
      row["cluster"], row["model"], task.gpus, name_of(layout),
      layout.recomputes ? "recompute " : "          ", row["unit"], measured, 100 * (ratio - 1));
  fmt::print("{}, {:.0f} GB{}\n", label, planned.memory.all() / 1e9,
             planned.fits ? "" : ": too much");
  return {label, ratio - 1};
}

TEST_CASE("published steps take what the planner says, within 25 %") {
  for (const auto& row : read_rows()) {
    const Row priced = price(row);
    CAPTURE(priced.label);
    CHECK(std::abs(priced.error) <= 0.25);
  }
}

}  // namespace
}  // namespace rankbox::plan
