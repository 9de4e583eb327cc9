#include "judge/race/interleaving.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include <doctest/doctest.h>

namespace rankbox {
namespace {

TEST_CASE("there are twenty schedules of three and three steps, all different") {
  const std::vector<Schedule> schedules = all_schedules();
  CHECK(schedules.size() == 20);
  CHECK(std::set<Schedule>(schedules.begin(), schedules.end()).size() == 20);
  for (const Schedule& schedule : schedules) {
    CHECK(std::ranges::count(schedule, 0) == 3);
    CHECK(std::ranges::count(schedule, 1) == 3);
  }
}

TEST_CASE("only the two serial schedules lose no update") {
  int losing = 0;
  for (const Schedule& schedule : all_schedules()) {
    const bool serial =
        schedule == Schedule{0, 0, 0, 1, 1, 1} || schedule == Schedule{1, 1, 1, 0, 0, 0};
    CHECK(loses_update(schedule) == !serial);
    losing += loses_update(schedule) ? 1 : 0;
  }
  CHECK(losing == 18);
}

TEST_CASE("an update is lost exactly when the final value is not the sum") {
  for (const Amounts& amounts : {Amounts{1, 1}, Amounts{1, -1}, Amounts{5, 3}}) {
    for (const Schedule& schedule : all_schedules()) {
      const std::vector<Moment> moments = play(schedule, amounts, 100);
      const bool wrong = moments.back().value != 100 + amounts[0] + amounts[1];
      CHECK(wrong == loses_update(schedule));
    }
  }
}

TEST_CASE("a step changes its own thread's register or the shared value, nothing else") {
  for (const Schedule& schedule : all_schedules()) {
    const std::vector<Moment> moments = play(schedule, {1, -1});
    REQUIRE(moments.size() == 6);
    Moment before;
    for (std::size_t i = 0; i < moments.size(); ++i) {
      const Moment& now = moments[i];
      const auto own = static_cast<std::size_t>(now.thread);
      CHECK(now.thread == schedule[i]);
      CHECK(now.registers[1 - own] == before.registers[1 - own]);
      switch (now.step) {
        case RaceStep::kLoad:
          CHECK(now.registers[own] == before.value);
          CHECK(now.value == before.value);
          break;
        case RaceStep::kAdd:
          CHECK(*now.registers[own] == *before.registers[own] + (own == 0 ? 1 : -1));
          CHECK(now.value == before.value);
          break;
        case RaceStep::kStore:
          CHECK(now.registers[own] == before.registers[own]);
          CHECK(now.value == *before.registers[own]);
          break;
      }
      before = now;
    }
  }
}

TEST_CASE("the schedule we show loses the first thread's update") {
  const std::vector<Moment> moments = play(kLosingSchedule, {1, -1});
  CHECK(moments.back().value == -1);
  CHECK(moments.back().overwrote);
  CHECK(moments.back().thread == 1);
}

TEST_CASE("the table has a line for every moment and fits 76 columns") {
  for (const std::int64_t amount : {1, 999}) {
    for (const Schedule& schedule : all_schedules()) {
      const std::vector<std::string> lines = interleaving_table(schedule, {amount, -amount});
      CHECK(lines.size() == 2 + 6);
      for (const std::string& line : lines) CHECK(line.size() <= 76);
      const auto marked = std::ranges::count_if(lines, [](const std::string& line) {
        return line.find("update lost") != std::string::npos;
      });
      CHECK((marked > 0) == loses_update(schedule));
    }
  }
}

}  // namespace
}  // namespace rankbox
