// Reports fit the available space.
#include "cli/train/report.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cli/train/backend.h"
#include "cli/train/loss_curve.h"
#include "cli/train/step_log.h"
#include "tests/support/run_tests.h"
#include "training/data/digits.h"
#include "training/models/mlp.h"

namespace rankbox::train {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Returns the columns of UTF-8 text without wide characters.
std::size_t width_of(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

TEST_CASE("a curve has its highest loss on top, 0 at the bottom, and the steps below") {
  const std::vector<double> losses = {2, 2, 1, 1, 0, 0};
  CHECK(draw_loss_curve(losses, {.rows = 3, .first_step = 11, .ascii = true}) ==
        "     2 |**\n"
        "     1 |  **\n"
        "     0 |    **\n"
        "       +------\n"
        "        step 11  step 16\n");
  CHECK(draw_loss_curve(losses, {.rows = 3}).find("     2 │••\n") == 0);
}

TEST_CASE("more losses than columns are averaged, and no line is too long") {
  std::vector<double> losses;
  for (int i = 0; i < 7200; ++i) losses.push_back(i % 2 == 0 ? 1 : 3);  // 2 on average
  for (const int columns : {30, 47, 80, 200}) {
    for (const std::string& line : lines_of(draw_loss_curve(losses, {.columns = columns})))
      CHECK(width_of(line) <= static_cast<std::size_t>(columns));
  }
  const std::vector<std::string> lines = lines_of(draw_loss_curve(losses, {.ascii = true}));
  CHECK(lines[0] == "     2 |" + std::string(72, '*'));
  CHECK(lines[1] == "       |");
}

TEST_CASE("a curve of one step is none, and losses of 0 are drawn") {
  CHECK(draw_loss_curve(std::vector<double>{}).empty());
  CHECK(draw_loss_curve(std::vector<double>{1}).empty());
  CHECK(lines_of(draw_loss_curve(std::vector<double>{0, 0}, {.ascii = true}))[7] == "     0 |**");
}

TEST_CASE("the bar fits its line, whatever the width, and fills up") {
  Plan plan;
  plan.epochs = 3;
  const Record record(plan);
  for (int columns = 1; columns <= 120; ++columns) {
    const std::string line = bar_line(plan, {1, 50, 150}, 100, record, {.columns = columns});
    CHECK(width_of(line) < static_cast<std::size_t>(std::max(columns, 2)));
  }
  const Screen screen = {.ascii = true, .columns = 200};
  CHECK(bar_line(plan, {1, 50, 150}, 100, record, screen).find("epoch 2/3  ###############....") ==
        0);
  CHECK(bar_line(plan, {2, 100, 150}, 100, record, screen).find('.') >
        bar_line(plan, {2, 100, 150}, 100, record, screen).find('/') + 20);
}

TEST_CASE("a step whose evaluation comes after --resume has one line in the log") {
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::string path = std::string(folder == nullptr ? "/tmp" : folder) + "/steps.jsonl";
  std::filesystem::remove(path);
  Plan plan;
  plan.epochs = 2;
  const Record record(plan);
  {
    StepLog log(path, plan, record);
    log.start({});
    log.on_step({0, 1, 1}, 2, {{.loss = 3}});
    log.on_step({0, 2, 2}, 2, {{.loss = 2}});  // stopped here
  }
  plan.resume = true;
  {
    StepLog log(path, plan, record);
    log.start({0, 2, 2});
    log.on_evaluation({0, 2, 2}, {{2.5, 0.5, 7}, 0.5}, false);
    log.on_step({1, 1, 3}, 2, {{.loss = 1}});
  }
  {
    StepLog log(path, plan, record);
    log.start({1, 1, 3});  // in the middle of an epoch: the line stays
    log.on_step({1, 2, 4}, 2, {{.loss = 0.5}});
  }
  std::ifstream file(path);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  REQUIRE(lines.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(lines[i].at("step") == i + 1);
    CHECK(lines[i].contains("loss"));
    CHECK(lines[i].contains("test") == (i == 1));
  }
}

TEST_CASE("the timeline shows one step: what each rank computes, and the all-reduces between") {
  if (!has_timeline()) return testing::pass_over("no virtual time");
  Task task;
  task.data = digits({.train = 40, .test = 1});
  task.model = mlp({.hidden = {16}});
  Plan plan;
  plan.strategy = "ddp";
  plan.ranks = 3;
  plan.batch = 12;
  plan.learning_rate = 0.1;
  // Links so slow that an all-reduce takes a second and computing almost none.
  plan.cluster = {"slow", {0.25, 0}, {0.25, 0}, 0, 0};
  const std::string picture = draw_step(plan, task, {.columns = 200, .ascii = true});
  CAPTURE(picture);
  for (const char* rank : {"rank 0 ", "rank 1 ", "rank 2 "})
    CHECK(picture.find(rank) != std::string::npos);
  std::size_t reductions = 0;
  for (std::size_t at = 0; (at = picture.find("[all_reduce", at)) != std::string::npos; ++at)
    ++reductions;
  CHECK(reductions == 3 * 4);  // weights and biases of two layers, in one step
  CHECK(picture.find("barrier") == std::string::npos);
  CHECK(picture.find("broadcast") == std::string::npos);
}

}  // namespace
}  // namespace rankbox::train
