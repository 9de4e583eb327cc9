// `check race` and `race FILE`: verdicts that do not depend on luck, and what they show.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "judge/verdict_text.h"
#include "tests/cli/command.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox {
namespace {

struct Program {
  const char* name;
  const char* shared;  // declared before the threads start
  const char* update;  // of thread `me`, the i-th; `amount` is 1 or -1
  FailureKind kind = FailureKind::kValues;
  const char* message = "";  // "": it is right
};

constexpr Program kPrograms[] = {
    {"two_mutexes", "std::mutex a, b;",
     "std::unique_lock one(me % 2 ? a : b); std::unique_lock two(me % 2 ? b : a);"
     "value.store(value.load() + amount);",
     FailureKind::kDeadlock, "waits for lock"},
    {"one_update_of_many", "std::mutex m;",
     "if (i != 617) m.lock(); value.store(value.load() + amount); if (i != 617) m.unlock();",
     FailureKind::kValues, "lost"},
    {"the_fourth_thread", "std::mutex m;",
     "if (me != 3) m.lock(); value.store(value.load() + amount); if (me != 3) m.unlock();",
     FailureKind::kValues, "lost"},
    {"last_of_64", "std::mutex m;",
     "if (me != 63) m.lock(); value.store(value.load() + amount); if (me != 63) m.unlock();",
     FailureKind::kValues, "lost"},
    {"check_then_set", "std::atomic<bool> busy = false;",
     "while (busy) std::this_thread::yield(); busy = true;"
     "value.store(value.load() + amount); busy = false;",
     FailureKind::kValues, "lost"},
    {"sleeps", "",
     "std::this_thread::sleep_for(std::chrono::milliseconds(me));"
     "value.store(value.load() + amount);",
     FailureKind::kValues, "lost"},
    {"semaphore_of_two", "std::counting_semaphore<2> free(2);",
     "free.acquire(); value.store(value.load() + amount); free.release();", FailureKind::kValues,
     "lost"},
    {"never_notified", "std::mutex m; std::condition_variable changed; bool busy = false;",
     "std::unique_lock lock(m); changed.wait(lock, [&] { return !busy; }); busy = true;"
     "lock.unlock(); value.store(value.load() + amount); lock.lock(); busy = false;",
     FailureKind::kDeadlock, "condition"},
    {"never_unlocked", "std::mutex m;", "m.lock(); value.store(value.load() + amount);",
     FailureKind::kDeadlock, "lock"},
    {"notified", "std::mutex m; std::condition_variable changed; bool busy = false;",
     "std::unique_lock lock(m); changed.wait(lock, [&] { return !busy; }); busy = true;"
     "lock.unlock(); value.store(value.load() + amount); lock.lock(); busy = false;"
     "changed.notify_one();"},
    {"ticket", "std::atomic<long> next = 0, served = 0;",
     "const long mine = next++; while (served != mine) std::this_thread::yield();"
     "value.store(value.load() + amount); ++served;"},
    {"recursive", "std::recursive_mutex m;",
     "std::lock_guard one(m); std::lock_guard two(m); value.store(value.load() + amount);"},
    {"shared_mutex", "std::shared_mutex m;",
     "std::unique_lock lock(m); value.store(value.load() + amount);"},
    {"readers", "std::shared_mutex m;",
     "std::shared_lock lock(m); value.store(value.load() + amount);", FailureKind::kValues, "lost"},
    {"standard_semaphore", "std::binary_semaphore free(1);",
     "free.acquire(); value.store(value.load() + amount); free.release();"},
    {"thread_locals", "std::mutex m; static thread_local int depth = 0;",
     "++depth; std::lock_guard lock(m); value.store(value.load() + amount); --depth;"},
    {"static_mutex", "static std::mutex m;",
     "std::lock_guard lock(m); value.store(value.load() + amount);"},
};

/// Writes the program to a file of the project. Returns its path.
std::string file_of(const Program& program) {
  const std::string path = project() + "/race_" + program.name + ".cc";
  std::ofstream(path) << R"(#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "collectives/race.h"

namespace rankbox {
void race(SharedValue& value, int threads, std::int64_t repeats) {
)" << program.shared << R"(
  std::vector<std::thread> started;
  for (int me = 0; me < threads; ++me) {
    started.emplace_back([&, me] {
      const int amount = me % 2 == 0 ? 1 : -1;
      for (std::int64_t i = 0; i < repeats; ++i) {
)" << program.update << R"(
      }
    });
  }
  for (std::thread& thread : started) thread.join();
}
}  // namespace rankbox
)";
  return path;
}

/// Returns the number of the first line with this text; 0: there is none.
int line_with(const std::string& file, const char* text) {
  std::ifstream source(file);
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (testing::contains(line, text)) return number;
  }
  return 0;
}

TEST_CASE("right programs pass, wrong ones fail for the right reason, twice the same") {
  std::vector<std::vector<std::string>> checks;
  std::vector<const Program*> programs;
  for (std::size_t row = 0; const Program& program : kPrograms) {
    if (!testing::wants_row(program.name) || !testing::is_to_run(row++)) continue;
    for (int time = 0; time < 2; ++time) {
      programs.push_back(&program);
      checks.push_back({"race", "--file", file_of(program), "--timeout", "60"});
    }
  }
  const std::vector<Verdict> verdicts = checked_all(checks);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    INFO(programs[i]->name, ": ", to_text(verdicts[i]));
    CHECK(verdicts[i].passed() == (*programs[i]->message == '\0'));
    if (i % 2 == 1) CHECK(to_text(verdicts[i]) == to_text(verdicts[i - 1]));
    if (verdicts[i].passed() || !verdicts[i].failure) continue;
    CHECK(verdicts[i].failure->kind == programs[i]->kind);
    CHECK(testing::contains(verdicts[i].failure->message, programs[i]->message));
  }
}

/// Returns what follows `before` in the text, up to a space or the end of the line.
std::string word_after(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + before.size();
  return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

TEST_CASE("race FILE --step shows how an update is lost, and --replay shows it again") {
  project();
  const std::string stub = "exercises/01_ranks_and_races/race.cc";
  const CommandResult shown = rankbox({"race", stub, "--step"});
  INFO(shown.output);
  CHECK(shown.exit_code == 1);
  CHECK(testing::lacks(shown.output, {"thread 1", "thread 2", "load   1000", "update lost",
                                      "2 threads, 1 update each"}) == "");
  CHECK(testing::lacks(shown.output, {"    12", "    18"}) == "");  // lines of load and store
  const std::string schedule = word_after(shown.output, "--replay ");
  CHECK(schedule.starts_with("2x1:"));
  const CommandResult again = rankbox({"race", stub, "--replay", schedule});
  CHECK(again.exit_code == 1);
  CHECK(again.output == shown.output);
  CHECK(rankbox({"race", stub}).output == shown.output);
}

TEST_CASE("the verdict of check ends with the command that shows the schedule") {
  for (const Program& program : kPrograms) {
    const std::string name = program.name;
    if (name != "two_mutexes" && name != "one_update_of_many" && name != "readers") continue;
    const std::string file = file_of(program);
    const Verdict verdict = checked({"race", "--file", file, "--timeout", "60"});
    REQUIRE(verdict.failure.has_value());
    // As pasted: the rest of the message is a command.
    const std::string& message = verdict.failure->message;
    const std::string named = word_after(message, "./rankbox race ");
    const std::string schedule = word_after(message, "--replay ");
    INFO(program.name, ": ", message);
    if (program.kind == FailureKind::kValues)
      CHECK(verdict.failure->line == line_with(file, "value.store("));
    CHECK(message.ends_with("./rankbox race " + named + " --replay " + schedule));
    for (const Check& check : verdict.checks) CHECK(!testing::contains(check.detail, "FILE"));
    const CommandResult shown = rankbox({"race", named, "--replay", schedule});
    INFO(shown.output);
    CHECK(shown.exit_code == 1);
    CHECK(testing::contains(
        shown.output, program.kind == FailureKind::kValues ? "update lost" : "waits for lock"));
  }
}

TEST_CASE("a file that is right says in how many schedules, and a mistake is one line") {
  project();
  const CommandResult right = rankbox({"race", "solutions/01_ranks_and_races/race.cc"});
  INFO(right.output);
  CHECK(right.exit_code == 0);
  CHECK(testing::contains(right.output, "schedules"));
  CHECK(rankbox({"race", "no_such_file.cc"}).exit_code == 2);
  // The exercise's name stands for its file.
  CHECK(rankbox({"race", "race"}).output ==
        rankbox({"race", "exercises/01_ranks_and_races/race.cc"}).output);
  CHECK(rankbox({"race", "--replay", "2x1:0"}).exit_code == 2);
  for (const char* wrong : {"x", "3x1:0", "2x1:a"}) {
    const CommandResult refused =
        rankbox({"race", "solutions/01_ranks_and_races/race.cc", "--replay", wrong});
    CHECK(refused.exit_code == 2);
    CHECK(testing::contains(refused.output, wrong));
  }
}

}  // namespace
}  // namespace rankbox
