#include "cli/gpu/report.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/color.h>
#include <fmt/format.h>

namespace rankbox::cli {

std::int64_t Report::count(State state) const {
  return std::ranges::count(lines, state, &Line::state);
}

int Report::exit_code() const {
  return count(State::kNotMet) > 0 || std::ranges::any_of(lines, &Line::is_failure) ? 1 : 0;
}

std::string state_of(const Line& line) {
  constexpr std::array kNames = {"met", "not met", "measured", "not measured"};
  const std::string name = kNames.at(static_cast<std::size_t>(line.state));
  return line.because.empty() ? name : fmt::format("{}, because {}", name, line.because);
}

std::string in_words(const Machine& machine) {
  std::map<std::string, int> counts;
  for (const std::string& name : machine.gpus) ++counts[name];
  std::string words;
  for (const auto& [name, count] : counts) words += fmt::format("{} × {}, ", count, name);
  return fmt::format("{}driver {}, CUDA {} (driver: {}), NCCL {}", words, machine.driver,
                     machine.cuda_runtime, machine.cuda_driver, machine.nccl);
}

std::string summary_of(const Report& report) {
  return fmt::format("{} met, {} not met, {} not measured{}", report.count(State::kMet),
                     report.count(State::kNotMet), report.count(State::kNotMeasured),
                     report.is_interrupted ? "; interrupted" : "");
}

std::string text_of(const Line& line, bool colour) {
  std::string text =
      fmt::format("  {:<42} {}{}", line.what, line.value, line.value.empty() ? "" : "; ");
  if (!line.target.empty()) text += fmt::format("target: {}; ", line.target);
  const std::string state = state_of(line);
  const bool is_bad = line.state == State::kNotMet || line.is_failure;
  if (colour && (is_bad || line.state == State::kMet)) {
    const auto shade = is_bad ? fmt::terminal_color::red : fmt::terminal_color::green;
    return text + fmt::format(fmt::fg(shade), "{}", state) + "\n";
  }
  return text + state + "\n";
}

}  // namespace rankbox::cli
