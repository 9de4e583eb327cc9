#include "judge/race/race_demo.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "comm/errors.h"
#include "judge/race/grouped.h"
#include "judge/race/report.h"
#include "judge/race/run_threads.h"
#include "judge/race/variants.h"

namespace rankbox {
namespace {

// Enough for a median, and fast: a fix costs up to a hundred times as much as the race.
constexpr int kRunsOfFixes = 7;

// A message costs a hundred times as much as an update in shared memory. Fewer give the same time
// per update.
constexpr std::int64_t kMessages = 20'000;

/// Prints lines to `out`.
class Printer {
 public:
  Printer(std::FILE* out, const RaceOptions& options) : out_(out), options_(options) {}

  void operator()(const std::vector<std::string>& lines) const {
    for (const std::string& line : lines) {
      const std::string whole = (options_.fit ? options_.fit(line) : line) + "\n";
      std::fwrite(whole.data(), 1, whole.size(), out_);
    }
    std::fflush(out_);
  }

 private:
  std::FILE* out_;
  const RaceOptions& options_;
};

void wait_for_enter() {
  for (int read = std::getchar(); read != '\n' && read != EOF;) read = std::getchar();
}

Measured measure(const RaceVariant& variant, std::int64_t repeats, int runs,
                 const RaceOptions& options) {
  Measured measured;
  measured.name = variant.name;
  measured.threads = options.threads;
  measured.repeats = repeats;
  measured.amount = options.amount;
  for (int run = 0; run < runs; ++run) {
    if (options.before_run) options.before_run();
    measured.outcomes.push_back(
        variant.run({options.threads, repeats, options.amount, options.delay}));
  }
  return measured;
}

}  // namespace

void check_race_options(const RaceOptions& options) {
  if (options.threads < 2 || options.threads > kMaxRaceThreads || options.threads % 2 != 0) {
    throw InvalidArgument(fmt::format(
        "--threads is {}: half of the threads add and half subtract, so expected an even "
        "number from 2 to {}",
        options.threads, kMaxRaceThreads));
  }
  if (options.repeats < 0 || options.repeats > kMaxRaceRepeats) {
    throw InvalidArgument(fmt::format("--repeats is {}: expected a number of updates from 0 to {}",
                                      options.repeats, kMaxRaceRepeats));
  }
  if (options.amount < 1 || options.amount > kMaxRaceAmount) {
    throw InvalidArgument(fmt::format("--amount is {}: expected a number from 1 to {}",
                                      options.amount, kMaxRaceAmount));
  }
  if (options.delay < 0 || options.delay > kMaxRaceDelay) {
    throw InvalidArgument(fmt::format("--delay is {}: expected nanoseconds from 0 to {}",
                                      options.delay, kMaxRaceDelay));
  }
  if (options.runs < 1 || options.runs > kMaxRaceRuns) {
    throw InvalidArgument(fmt::format("--runs is {}: expected a number of runs from 1 to {}",
                                      options.runs, kMaxRaceRuns));
  }
}

int run_race_demo(const RaceOptions& options, std::FILE* out) {
  check_race_options(options);
  run_threads(options.threads, [](int) {});  // fails before any output if the machine cannot
  const ReportStyle style = {options.color, std::clamp(options.width, 40, 120)};
  const Printer print(out, options);

  // 1. The question comes before the answer.
  print(question({options.threads, options.repeats, options.amount, options.delay}, style));

  // 2. The race.
  const std::span<const RaceVariant> variants = race_variants();
  std::vector<Measured> all = {measure(variants.front(), options.repeats, options.runs, options)};
  print(distribution(all.front(), std::thread::hardware_concurrency(), style));

  // 3. The fixes.
  print(heading("Three ways to fix it", style));
  for (const RaceVariant& variant : variants.subspan(1)) {
    std::int64_t repeats = options.repeats;
    if (variant.run == race_with_messages)
      repeats = std::min(repeats, std::max<std::int64_t>(kMessages / options.threads, 1));
    all.push_back(measure(variant, repeats, std::min(options.runs, kRunsOfFixes), options));
  }
  print(cost_table(all, style));

  // 4. How an update gets lost.
  print(heading("How an update gets lost", style));
  for (const std::string& line : interleaving_lines(options.amount, style)) {
    if (options.step) wait_for_enter();
    print({line});
  }
  print(conclusion(style));

  const bool fixes_are_right =
      std::all_of(all.begin() + 1, all.end(), [](const Measured& fix) { return fix.wrong() == 0; });
  return fixes_are_right ? 0 : 1;
}

}  // namespace rankbox
