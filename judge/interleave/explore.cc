#include "judge/interleave/explore.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "comm/errors.h"
#include "judge/interleave/dpor.h"
#include "judge/interleave/pct.h"

namespace rankbox::interleave {

namespace {

/// A program that polls or prints new variables every time would never settle.
constexpr int kMostRestarts = 10;

std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

InvalidArgument no_schedule(const std::string& text) {
  return InvalidArgument("'" + text + "' is no schedule: it looks like 0x3.1.0x2, or like @7");
}

class Given : public Strategy {
 public:
  explicit Given(std::vector<int> schedule) : schedule_(std::move(schedule)) {}

  int choose(const Moment& moment) override {
    const std::size_t step = at_++;
    if (step >= schedule_.size()) return usual_choice(moment);
    for (const int thread : moment.ready) {
      if (thread == schedule_[step]) return thread;
    }
    at_ = schedule_.size();  // not a schedule of this program
    return usual_choice(moment);
  }

 private:
  std::vector<int> schedule_;
  std::size_t at_ = 0;
};

class Exploration {
 public:
  Exploration(const MakeProgram& make, const Limits& limits) : make_(make), limits_(limits) {}

  /// Runs the program once.
  Execution run(Strategy& strategy) {
    ExecutionOptions options;
    options.most_steps = limits_.most_steps;
    options.record = limits_.record || limits_.executions > 0;
    options.real_threads = limits_.real_threads;
    options.locals = limits_.locals;
    auto control = std::make_unique<Control>(strategy, places_, options);
    Execution execution = control->run(make_());
    // After a deadlock its threads stay where they are, and so does what they use.
    if (execution.ending != Ending::kDone) static_cast<void>(control.release());
    ++verdict_.executions;
    verdict_.length += execution.length;
    longest_ = std::max(longest_, execution.length);
    return execution;
  }

  /// Runs all schedules up to the bound, again from the start whenever variables turn out to be
  /// shared. Returns whether that is the end.
  bool run_all() {
    for (int restart = 0; restart <= kMostRestarts; ++restart) {
      const std::size_t places = places_.size();
      Dpor dpor;
      int left = limits_.executions;
      while (left-- > 0) {
        Execution execution = run(dpor);
        // The other variables may be what decides, and are part of the picture.
        if (places_.size() != places && restart < kMostRestarts &&
            execution.ending == Ending::kDone)
          break;
        if (is_over(std::move(execution))) return true;
        // A loop may poll for ever in a schedule that is not fair. Random ones are.
        if (dpor.diverged() || last_.ending == Ending::kCut) return false;
        if (!dpor.next(last_)) {
          verdict_.is_exhaustive = true;
          return true;
        }
      }
      if (places_.size() == places) return false;
    }
    return false;
  }

  bool run_randomly() {
    int cut = 0;
    for (int i = 0; i < limits_.random; ++i) {
      if (is_over(run_random(i))) {
        verdict_.schedule = "@" + std::to_string(i);
        return true;
      }
      cut += last_.ending == Ending::kCut ? 1 : 0;
    }
    if (cut < limits_.random || cut == 0) return false;
    verdict_.ending = Ending::kLivelock;
    verdict_.problem = "the threads are still running after " + std::to_string(last_.length) +
                       " steps, in each of " + std::to_string(cut) + " schedules";
    verdict_.schedule = "@" + std::to_string(cut - 1);
    verdict_.steps = last_.steps;
    return true;
  }

  Execution run_random(int i) {
    const std::uint64_t seed = limits_.seed * 1000 + static_cast<std::uint64_t>(i);
    if (i % 2 == 0) {
      RandomWalk walk(seed, limits_.mean_run);
      return run(walk);
    }
    // Switches between threads of the system are slow.
    Pct pct(seed, longest_, limits_.real_threads ? 500 : 50);
    return run(pct);
  }

  Verdict verdict() { return std::move(verdict_); }

  Verdict replay(const std::string& schedule) {
    const bool is_random = schedule.starts_with("@");
    const auto number = number_in(schedule.substr(is_random ? 1 : 0));
    if (is_random && !number) throw no_schedule(schedule);
    Given given(is_random ? std::vector<int>{} : schedule_of(schedule));
    run_all();
    // What came before decides which variables are watched.
    for (int i = 0; is_random && i < *number; ++i) run_random(i);
    verdict_ = {};
    Execution execution = is_random ? run_random(*number) : run(given);
    verdict_.steps = execution.steps;
    is_over(std::move(execution));
    verdict_.schedule = schedule;
    return std::move(verdict_);
  }

 private:
  /// Keeps an execution that went wrong. Throws what it threw.
  bool is_over(Execution execution) {
    last_ = std::move(execution);
    if (last_.thrown != nullptr) std::rethrow_exception(last_.thrown);
    if (last_.problem.empty()) return false;
    verdict_.ending = last_.ending;
    verdict_.problem = last_.problem;
    verdict_.schedule = text_of(last_.schedule);
    verdict_.steps = last_.steps;
    return true;
  }

  const MakeProgram& make_;
  const Limits& limits_;
  Places places_;
  Execution last_;
  Verdict verdict_;
  std::int64_t longest_ = 1;
};

}  // namespace

Verdict explore(const MakeProgram& make, const Limits& limits) {
  Exploration exploration(make, limits);
  if (!exploration.run_all()) exploration.run_randomly();
  return exploration.verdict();
}

Verdict replay(const MakeProgram& make, const Limits& limits, const std::string& schedule) {
  return Exploration(make, limits).replay(schedule);
}

std::string text_of(const std::vector<int>& schedule) {
  std::string text;
  for (std::size_t i = 0; i < schedule.size();) {
    std::size_t end = i;
    while (end < schedule.size() && schedule[end] == schedule[i]) ++end;
    text += (text.empty() ? "" : ".") + std::to_string(schedule[i]);
    if (end - i > 1) text += "x" + std::to_string(end - i);
    i = end;
  }
  return text;
}

std::vector<int> schedule_of(const std::string& text) {
  constexpr int kLongest = 1'000'000;
  std::vector<int> schedule;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    const std::string_view part = std::string_view(text).substr(at, end - at);
    const std::size_t times = part.find('x');
    const auto thread = number_in(part.substr(0, times));
    const auto count =
        times == std::string_view::npos ? std::optional(1) : number_in(part.substr(times + 1));
    if (!thread || !count || *count > kLongest) throw no_schedule(text);
    schedule.insert(schedule.end(), static_cast<std::size_t>(*count), *thread);
    at = end + 1;
  }
  return schedule;
}

}  // namespace rankbox::interleave
