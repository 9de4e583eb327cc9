#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cli/grade/formats/formats.h"
#include "cli/grade/page_source.h"
#include "cli/grade/result.h"

namespace rankbox::cli {
namespace {

using Json = nlohmann::ordered_json;

// Only programs that fail have code, of at most 300 lines (code_excerpt.h), and equal code is there
// once: 2 KB for most. This bounds what a class of large files adds.
constexpr std::size_t kMostCodeBytes = std::size_t{16} << 20;

/// Returns `texts`, and [student][exercise] the index there, or null.
Json code_of(const ClassReport& report) {
  Json texts = Json::array();
  Json all = Json::array();
  std::map<CodeExcerpt, std::size_t> known;
  std::size_t bytes = 0;
  for (const StudentGrade& student : report.students) {
    Json of_student = Json::array();
    for (const ExerciseGrade& grade : student.exercises) {
      const CodeExcerpt& code = grade.code;
      // As escaped below: five more bytes for each "<".
      const std::size_t size =
          code.text.size() + 5 * static_cast<std::size_t>(std::ranges::count(code.text, '<'));
      const bool is_new = !known.contains(code) && bytes + size <= kMostCodeBytes;
      if (is_new && !code.text.empty()) {
        known[code] = texts.size();
        bytes += size;
        texts.push_back({{"file", code.file},
                         {"first", code.first},
                         {"lines", code.lines},
                         {"text", code.text}});
      }
      const auto at = known.find(code);
      of_student.push_back(at == known.end() ? Json() : Json(at->second));
    }
    all.push_back(std::move(of_student));
  }
  return {{"texts", std::move(texts)}, {"of", std::move(all)}};
}

/// Fills in JSON, in which no "</script>" ends the script.
void fill_in(std::string& page, std::string_view hole, const std::string& json) {
  std::string safe;
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  page.replace(page.find(hole), hole.size(), safe);
}

}  // namespace

std::string to_html(const ClassReport& report) {
  std::string page(kClassPage);
  // From the end: the grades may hold the words of a hole.
  fill_in(page, "{{code}}", code_of(report).dump());
  fill_in(page, "{{grades}}", to_json(report));
  return page;
}

}  // namespace rankbox::cli
