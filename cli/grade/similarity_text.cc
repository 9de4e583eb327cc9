// Pairs as text and as JSON.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/grade/similarity.h"

namespace rankbox::cli {

namespace {

std::string lines(int first, int last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

}  // namespace

const std::string_view kWhatSimilarityMeans =
    "A score is the share of the shorter file's passages that the other file has as well, whatever "
    "their names, comments and order; what the stub and the reference solution have is not counted "
    "between students. It says which pairs to read side by side, and does not prove that one was "
    "copied: an exercise of ten lines has few ways to be written, and two students may share a "
    "book "
    "or a lecture. Nor does a low score prove the opposite.";

std::string to_text(const SimilarPair& pair) {
  std::string text = fmt::format("{:3.0f} %  {}  {} and {}", 100 * pair.score, pair.exercise,
                                 pair.a, pair.b.empty() ? "the reference solution" : pair.b);
  if (pair.same_text) return text + ": the same text";
  const char* separator = ": lines ";
  for (const SimilarPassage& each : pair.passages) {
    text += fmt::format("{}{} and {}", separator, lines(each.first_line_of_a, each.last_line_of_a),
                        lines(each.first_line_of_b, each.last_line_of_b));
    separator = ", ";
  }
  return text;
}

std::string to_json(const std::vector<SimilarPair>& pairs, int indent) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const SimilarPair& pair : pairs) {
    nlohmann::ordered_json passages = nlohmann::ordered_json::array();
    for (const SimilarPassage& each : pair.passages) {
      passages.push_back({{"a", {each.first_line_of_a, each.last_line_of_a}},
                          {"b", {each.first_line_of_b, each.last_line_of_b}}});
    }
    nlohmann::ordered_json other = pair.b;
    if (pair.b.empty()) other = nullptr;
    json.push_back({{"exercise", pair.exercise},
                    {"a", pair.a},
                    {"b", other},
                    {"score", pair.score},
                    {"shared", pair.shared},
                    {"same_text", pair.same_text},
                    {"passages", passages}});
  }
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace rankbox::cli
