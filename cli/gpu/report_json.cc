// The report as JSON.
#include "cli/gpu/report.h"

namespace rankbox::cli {

using Json = nlohmann::ordered_json;

Json to_json(const Report& report) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json lines = Json::array();
  for (const Line& line : report.lines) {
    const std::string state = state_of(line);
    lines.push_back({{"section", line.section},
                     {"what", line.what},
                     {"value", or_null(line.value)},
                     {"number", line.number ? Json(*line.number) : Json()},
                     {"target", or_null(line.target)},
                     {"state", state.substr(0, state.find(','))},
                     {"because", or_null(line.because)}});
  }
  return {{"version", 1},
          {"date", report.date},
          {"machine", Json(nlohmann::json(report.machine))},
          {"interrupted", report.is_interrupted},
          {"met", report.count(State::kMet)},
          {"not_met", report.count(State::kNotMet)},
          {"not_measured", report.count(State::kNotMeasured)},
          {"lines", std::move(lines)},
          {"details", report.details}};
}

}  // namespace rankbox::cli
