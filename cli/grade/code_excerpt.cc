#include "cli/grade/code_excerpt.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "judge/visible_text.h"

namespace rankbox::cli {
namespace {

constexpr std::size_t kMostColumns = kMostExcerptColumns;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Returns the line as visible text, cut between characters.
std::string visible_line(std::string_view line) {
  constexpr std::size_t kLongestCharacter = 4;
  if (line.ends_with('\r')) line.remove_suffix(1);
  // Behind another character, "::" is no command of a CI, and stays as it is.
  std::string visible =
      visible_text("|" + std::string(line.substr(0, kMostColumns + kLongestCharacter))).substr(1);
  if (visible.size() <= kMostColumns) return visible;
  std::size_t end = kMostColumns;
  while (end > 0 && (static_cast<unsigned char>(visible[end]) & 0xC0) == 0x80) --end;
  return visible.substr(0, end) + "…";
}

}  // namespace

CodeExcerpt excerpt_of(const SourceText& source, const std::string& file, const Failure& failure) {
  CodeExcerpt excerpt{.file = file};
  const auto helper = std::ranges::find(source.helpers, failure.file, &SourceText::Helper::name);
  const bool is_in_helper = failure.file != file && helper != source.helpers.end();
  if (is_in_helper) excerpt.file = visible_name(helper->name);
  const std::vector<std::string_view> lines = lines_of(is_in_helper ? helper->text : source.text);
  excerpt.lines = static_cast<int>(lines.size());

  const bool is_placed = failure.file == file || is_in_helper;
  const int middle = is_placed ? failure.line : 0;
  const int last_start = std::max(1, excerpt.lines - kMostExcerptLines + 1);
  excerpt.first = std::clamp(middle - kMostExcerptLines / 2, 1, last_start);
  const int end = std::min(excerpt.first + kMostExcerptLines, excerpt.lines + 1);
  for (int number = excerpt.first; number < end; ++number)
    excerpt.text += visible_line(lines[static_cast<std::size_t>(number - 1)]) + "\n";
  return excerpt;
}

}  // namespace rankbox::cli
