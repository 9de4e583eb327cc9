#include "cli/exercise/prediction.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"
#include "judge/failure_of.h"
#include "sim/clusters/clusters.h"

namespace rankbox::cli {
namespace {

constexpr const char* kSkipped = "-";
constexpr std::int64_t kLargeCount = std::int64_t{1} << 20;

struct Numbers {
  double steps = 0;
  std::optional<double> bytes;  // in units of unit_of()
};

std::optional<Numbers> numbers_in(const std::string& line) {
  std::istringstream words(line);
  Numbers numbers;
  double bytes = 0;
  if (!(words >> numbers.steps)) return std::nullopt;
  if (words >> bytes) numbers.bytes = bytes;
  std::string rest;
  words.clear();
  if (words >> rest || numbers.steps < 0 || bytes < 0) return std::nullopt;
  return numbers;
}

/// Returns the arguments but for the number of segments, which a pipelined algorithm takes, too.
std::string arguments_without_segments(const Exercise& exercise) {
  std::string arguments = parameters_of(exercise);
  constexpr std::string_view kSegments = ", int segments";
  const std::size_t at = arguments.find(kSegments);
  return at == std::string::npos ? arguments : arguments.erase(at, kSegments.size());
}

/// Returns the exercises of the same chapter that do the same, including this one.
std::vector<const Exercise*> rivals_of(const Exercise& exercise) {
  const std::string arguments = arguments_without_segments(exercise);
  std::vector<const Exercise*> rivals;
  for (const Exercise& other : exercises()) {
    if (other.chapter != exercise.chapter) continue;  // this program may not have its judge
    // A judge with a machine of another kind looks at overlap: a cost is more than the time there.
    const bool is_time = subject_of(other).cluster.name == Cluster{}.name;
    const bool alike =
        is_time && arguments_without_segments(other) == arguments && is_predictable(other);
    if (alike) rivals.push_back(&other);
  }
  return rivals;
}

std::string in_steps(double steps) {
  return fmt::format("{:g} step{}", steps, steps == 1 ? "" : "s");
}

std::string answer_to_numbers(const Exercise& exercise, const Numbers& guess) {
  const Case example = typical_case_of(exercise);
  const Cost cost = subject_of(exercise).cost(example);
  const CostUnit unit = unit_of(subject_of(exercise), example);
  std::string expected = in_steps(guess.steps);
  std::string actual = in_steps(cost.steps);
  bool right = guess.steps == cost.steps;
  if (guess.bytes && example.count.value_or(0) > 0) {
    const double bytes = cost.bytes / unit.size;
    const std::string name = unit.name.empty() ? "" : unit.name + " ";
    const int digits = unit.name.empty() ? 12 : 4;
    expected += fmt::format(" and {:.{}g} {}bytes", *guess.bytes, digits, name);
    actual += fmt::format(" and {:.{}g} {}bytes", bytes, digits, name);
    // Shards are padded: of a small model, Ψ is not the only term.
    const double slack = unit.name == "Ψ" ? 0.02 * bytes : 0.005;
    right = right && std::abs(*guess.bytes - bytes) < slack;
  }
  if (right) return fmt::format("you predicted {}: right", expected);
  return fmt::format("you predicted {}; it takes {} on {} ranks: which rank is busy longest?",
                     expected, actual, example.world_size);
}

/// What an exercise takes for a large tensor, on paper.
struct OnPaper {
  double seconds = 0;
  int segments = 0;  // the best power of two; 0: it has none

  std::string in_words() const {
    const std::string with =
        segments == 0 ? "" : fmt::format(" with {} segment{}", segments, segments == 1 ? "" : "s");
    return fmt::format("{:.3g} ms{}", seconds * 1e3, with);
  }
};

OnPaper on_paper(const Exercise& exercise) {
  constexpr int kMostSegments = 1024;
  Case example = typical_case_of(exercise);
  if (example.count) example.count = kLargeCount;
  const Subject subject = subject_of(exercise);
  const Cluster& machine = cluster_presets().front();
  const auto seconds = [&] {
    const Cost cost = subject.cost(example);
    return cost.steps * machine.within_node.alpha + cost.bytes * machine.within_node.beta +
           cost.reduced * machine.gamma;
  };
  if (!example.segments) return {seconds(), 0};
  OnPaper best;
  for (int segments = 1; segments <= kMostSegments; segments *= 2) {
    example.segments = segments;
    const double each = seconds();
    if (best.segments == 0 || each < best.seconds) best = {each, segments};
  }
  return best;
}

std::string answer_to_winner(const Exercise& exercise, const std::string& name) {
  const std::vector<const Exercise*> rivals = rivals_of(exercise);
  const Exercise& best =
      **std::min_element(rivals.begin(), rivals.end(), [](const Exercise* a, const Exercise* b) {
        return on_paper(*a).seconds < on_paper(*b).seconds;
      });
  const std::string guessed = on_paper(*find_exercise(name)).in_words();
  const std::string what = fmt::format("you predicted that {} wins at 4 MiB on {} ranks", name,
                                       typical_case_of(exercise).world_size);
  if (name == best.name) return fmt::format("{}: right, with {} on paper", what, guessed);
  return fmt::format("{}; on paper it takes {}, and {} {}", what, guessed, best.name,
                     on_paper(best).in_words());
}

}  // namespace

bool is_predictable(const Exercise& exercise) {
  return static_cast<bool>(subject_of(exercise).cost);
}

std::string question_about(const Exercise& exercise) {
  const Case example = typical_case_of(exercise);
  const bool has_tensor = example.count.has_value();
  std::string question = fmt::format(
      "Before its first run: on {} ranks, how many messages of {} go one after another?\n",
      example.world_size, exercise.name);
  if (has_tensor) {
    const CostUnit unit = unit_of(subject_of(exercise), example);
    question +=
        fmt::format("Answer \"STEPS\", or \"STEPS BYTES\"{}{}",
                    unit.name.empty() ? "" : " with the bytes as a multiple of " + unit.name,
                    example.segments ? fmt::format(" ({} segments)", *example.segments) : "");
    question +=
        rivals_of(exercise).size() > 1 ? ",\nor the exercise that you expect to win at 4 MiB" : "";
    question += ". ";
  }
  return question + "Enter skips.\n> ";
}

std::string parse_prediction(const Exercise& exercise, const std::string& line) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos || line == kSkipped) return kSkipped;
  std::string text = line.substr(begin, line.find_last_not_of(" \t") - begin + 1);
  std::vector<std::string_view> names;
  for (const Exercise* rival : rivals_of(exercise)) names.emplace_back(rival->name);
  const bool is_name = std::find(names.begin(), names.end(), text) != names.end();
  if (is_name || numbers_in(text)) return text;
  const std::string winners =
      names.size() > 1 ? fmt::format(", or who wins: one of {}", fmt::join(names, ", ")) : "";
  const CostUnit unit = unit_of(subject_of(exercise), typical_case_of(exercise));
  throw InvalidArgument(fmt::format(
      "prediction \"{}\": expected a number of steps, or steps and bytes{} (\"7 1.75\"){}", text,
      unit.name.empty() ? "" : ", as a multiple of " + unit.name, winners));
}

std::string answer_to(const Exercise& exercise, const std::string& prediction) {
  if (prediction.empty() || prediction == kSkipped || !is_predictable(exercise)) return "";
  if (const auto numbers = numbers_in(prediction)) return answer_to_numbers(exercise, *numbers);
  return answer_to_winner(exercise, prediction);
}

}  // namespace rankbox::cli
