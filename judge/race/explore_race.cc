#include "judge/race/explore_race.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "comm/errors.h"
#include "judge/race/judge_race.h"

namespace rankbox {

namespace {

// Above this number of updates the schedules are too many to try them all.
constexpr std::int64_t kFewUpdates = 8;

interleave::Limits limits_of(const RaceRun& run) {
  const std::int64_t updates = run.threads * run.repeats;
  interleave::Limits limits;
  for (std::uint64_t* word : SharedValue::words_of_this_thread()) limits.locals.push_back(word);
  limits.real_threads = interleave::has_thread_locals(reinterpret_cast<const void*>(run.function));
  // A switch between threads of the system may take a millisecond on a busy machine.
  if (limits.real_threads) limits.executions = 50;
  if (updates <= kFewUpdates) return limits;
  limits.executions = 0;
  limits.record = false;
  limits.most_steps = 1'000'000 + 1000 * updates;
  // A long run has as many chances for a switch at a bad moment as many short ones.
  limits.random = updates < 1000 ? 40 : updates < 10'000 ? 8 : 1;
  if (updates >= 10'000) limits.mean_run = 20;
  if (limits.real_threads) {
    constexpr std::int64_t kSwitches = 200;
    constexpr std::int64_t kStepsOfUpdate = 4;
    limits.random = 2;
    limits.mean_run =
        static_cast<int>(std::max<std::int64_t>(updates * kStepsOfUpdate / kSwitches, 3));
  }
  return limits;
}

/// Returns what is wrong with the threads that the function has started; empty if nothing is.
std::string what_is_wrong_with_threads(const RaceRun& run) {
  const interleave::Control& control = *interleave::Control::self()->control;
  const int started = control.started();
  // Without updates to make, threads would change nothing.
  if (started != run.threads && (run.repeats > 0 || started > 0)) {
    return fmt::format(
        "the function started {} thread{}, not {}: start `threads` of them, and no others", started,
        started == 1 ? "" : "s", run.threads);
  }
  if (control.running() == 0) return "";
  return fmt::format("{} of {} threads may still run when the function returns: join them",
                     control.running(), started);
}

interleave::MakeProgram program_of(const RaceRun& run) {
  return [run] {
    const auto value = std::make_shared<SharedValue>(run.before);
    value->never_pause();
    return interleave::Program{[value, run] { run.function(*value, run.threads, run.repeats); },
                               [value, run] {
                                 const auto wrong =
                                     what_is_wrong(*value, run.before, run.threads, run.repeats);
                                 return wrong ? *wrong : what_is_wrong_with_threads(run);
                               }};
  };
}

constexpr std::int64_t kMostRepeats = 999'999;

/// Reads the number that text[begin, end) is. Returns whether it is one.
template <class Number>
bool number_in(const std::string& text, std::size_t begin, std::size_t end, Number& number) {
  const char* const last = text.data() + end;
  const auto [stop, error] = std::from_chars(text.data() + begin, last, number);
  return error == std::errc() && stop == last && number >= 0;
}

}  // namespace

bool can_explore(RaceFunction function) {
  return interleave::is_controlled(reinterpret_cast<const void*>(function));
}

std::string replay_text(const RaceRun& run, const std::string& schedule) {
  return fmt::format("{}x{}:{}", run.threads, run.repeats, schedule);
}

std::string parse_replay(const std::string& text, RaceRun& run) {
  const std::size_t times = text.find('x');
  const std::size_t colon = text.find(':');
  std::string schedule = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool is_whole = times < colon && !schedule.empty() &&
                        schedule.find_first_not_of("0123456789x.@") == std::string::npos &&
                        number_in(text, 0, times, run.threads) &&
                        number_in(text, times + 1, colon, run.repeats);
  if (!is_whole)
    throw InvalidArgument(fmt::format(
        "--replay {}: expected threads, repeats and a schedule, such as 2x1:0.1x2.2x4", text));
  if (run.threads < 2 || run.threads > 64 || run.threads % 2 != 0)
    throw InvalidArgument(
        fmt::format("--replay {}: {} threads; the exercise has an even number "
                    "from 2 to 64",
                    text, run.threads));
  if (run.repeats > kMostRepeats)
    throw InvalidArgument(
        fmt::format("--replay {}: {} repeats are more than {}", text, run.repeats, kMostRepeats));
  if (!schedule.starts_with('@')) interleave::schedule_of(schedule);
  return schedule;
}

interleave::Verdict explore_race(const RaceRun& run) {
  return interleave::explore(program_of(run), limits_of(run));
}

interleave::Verdict replay_race(const RaceRun& run, const std::string& schedule) {
  interleave::Limits limits = limits_of(run);
  limits.record = true;
  return interleave::replay(program_of(run), limits, schedule);
}

}  // namespace rankbox
