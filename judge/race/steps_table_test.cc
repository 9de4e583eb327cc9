#include "judge/race/steps_table.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "judge/race/explore_race.h"
#include "tests/support/text.h"

namespace rankbox {
namespace {

using enum interleave::Action;

interleave::Step step(int thread, interleave::Action action, std::int64_t after = 0) {
  interleave::Step made;
  made.thread = thread;
  made.operation.action = action;
  made.after = after;
  made.number = 1;
  return made;
}

const std::vector<interleave::Step>& losing_steps() {
  static const std::vector<interleave::Step> steps = {
      step(0, kStart),      step(1, kStart),      step(1, kLoad, 1000), step(2, kStart),
      step(2, kLoad, 1000), step(2, kStore, 999), step(2, kEnd),        step(1, kStore, 1001),
      step(1, kEnd),        step(0, kJoin),       step(0, kEnd)};
  return steps;
}

}  // namespace

TEST_CASE("a store over a number that the thread has not loaded is a lost update") {
  const std::vector<StepRow> rows = rows_of(losing_steps(), 1000);
  REQUIRE(rows.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) CHECK_FALSE(rows[i].overwrote);
  CHECK(rows[3].overwrote);
  CHECK(rows[3].value == 1001);
}

TEST_CASE("each of a few threads has a column, and the value is that after the step") {
  const std::vector<std::string> table = steps_table(rows_of(losing_steps(), 1000), 1000);
  REQUIRE(table.size() == 6);
  for (const std::string& line : table) CHECK(line.size() <= 80);
  CHECK(testing::lacks(table[0], {"step", "thread 1", "thread 2", "value"}) == "");
  CHECK(table[2].find("load   1000") < table[3].find("load   1000"));
  CHECK(testing::lacks(table[4], {"store  999", " 999"}) == "");
  CHECK(testing::lacks(table[5], {"store  1001", "update lost"}) == "");
}

TEST_CASE("many threads share a column, and of many rows those around the loss are shown") {
  std::vector<interleave::Step> steps;
  for (int i = 0; i < 200; ++i) steps.push_back(step(i % 5, kLoad, 1000));
  steps.push_back(step(1, kStore, 1001));
  steps.push_back(step(2, kStore, 999));
  for (int i = 0; i < 200; ++i) steps.push_back(step(i % 5, kLoad, 999));
  const std::vector<std::string> table = steps_table(rows_of(steps, 1000), 1000);
  CHECK(table.size() < 60);
  for (const std::string& line : table) CHECK(line.size() <= 80);
  int losses = 0;
  for (const std::string& line : table) losses += testing::contains(line, "update lost") ? 1 : 0;
  CHECK(losses == 1);
}

TEST_CASE("replay texts are read back, and others refused") {
  RaceRun run;
  run.threads = 4;
  run.repeats = 2;
  RaceRun read;
  CHECK(parse_replay(replay_text(run, "0.1x2.2"), read) == "0.1x2.2");
  CHECK(read.threads == 4);
  CHECK(read.repeats == 2);
  CHECK(parse_replay("2x1000:@3", read) == "@3");
  for (const char* wrong : {"", "0.1", "3x1:0.1", "2x1:", "2x1:abc", "66x1:0", "0x1:0"})
    CHECK_THROWS_AS(parse_replay(wrong, read), InvalidArgument);
}

}  // namespace rankbox
