#include "judge/race/interleaving.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace rankbox {
namespace {

constexpr std::array<const char*, 2> kRegisterNames = {"a", "b"};

std::string describe(const Moment& moment, const Amounts& amounts) {
  const auto thread = static_cast<std::size_t>(moment.thread);
  const char* name = kRegisterNames[thread];
  switch (moment.step) {
    case RaceStep::kLoad:
      return fmt::format("load   {} = value", name);
    case RaceStep::kAdd:
      return amounts[thread] < 0 ? fmt::format("add    {0} = {0} - {1}", name, -amounts[thread])
                                 : fmt::format("add    {0} = {0} + {1}", name, amounts[thread]);
    case RaceStep::kStore:
      return fmt::format("store  value = {}", name);
  }
  return "";
}

std::string shown(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : ".";
}

struct Row {
  std::string step, first, second, a, b, value, remark;
};

std::string line_of(const Row& row) {
  std::string line = fmt::format("{:>4}  {:<18} {:<18} {:>4} {:>4} {:>6}  {}", row.step, row.first,
                                 row.second, row.a, row.b, row.value, row.remark);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::vector<Moment> play(const Schedule& schedule, const Amounts& amounts, std::int64_t start) {
  constexpr std::array kProgram = {RaceStep::kLoad, RaceStep::kAdd, RaceStep::kStore};
  std::array<std::size_t, 2> program_counters = {0, 0};
  std::array<int, 2> stores_seen = {0, 0};  // stores before the thread's load
  int stores = 0;

  std::vector<Moment> moments;
  Moment now;
  now.value = start;
  for (const int who : schedule) {
    const auto thread = static_cast<std::size_t>(who);
    std::optional<std::int64_t>& own_register = now.registers[thread];
    now.thread = who;
    now.step = kProgram.at(program_counters[thread]++);
    now.overwrote = false;
    switch (now.step) {
      case RaceStep::kLoad:
        own_register = now.value;
        stores_seen[thread] = stores;
        break;
      case RaceStep::kAdd:
        *own_register += amounts[thread];
        break;
      case RaceStep::kStore:
        now.value = *own_register;
        now.overwrote = stores != stores_seen[thread];
        ++stores;
        break;
    }
    moments.push_back(now);
  }
  return moments;
}

bool loses_update(const Schedule& schedule) {
  return std::ranges::any_of(play(schedule, {1, -1}), &Moment::overwrote);
}

std::vector<Schedule> all_schedules() {
  std::vector<Schedule> schedules;
  Schedule schedule = {0, 0, 0, 1, 1, 1};
  do {
    schedules.push_back(schedule);
  } while (std::ranges::next_permutation(schedule).found);
  return schedules;
}

std::vector<std::string> interleaving_table(const Schedule& schedule, const Amounts& amounts,
                                            std::int64_t start) {
  std::vector<std::string> lines;
  const auto add = [&](const Row& row) { lines.push_back(line_of(row)); };
  add({"step", "first thread", "second thread", "a", "b", "value", ""});
  add({"", "", "", shown({}), shown({}), std::to_string(start), ""});
  int step = 0;
  for (const Moment& moment : play(schedule, amounts, start)) {
    const std::string action = describe(moment, amounts);
    add({std::to_string(++step), moment.thread == 0 ? action : "", moment.thread == 1 ? action : "",
         shown(moment.registers[0]), shown(moment.registers[1]), std::to_string(moment.value),
         moment.overwrote ? "<- update lost" : ""});
  }
  return lines;
}

}  // namespace rankbox
