#include "judge/verdict_text.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "judge/visible_text.h"

namespace rankbox {

namespace {

constexpr std::size_t kMessageLines = 7;  // of twelve; the others hold name, place and replay
constexpr std::size_t kFirstLines = 4;    // of a longer message; the others are its last
constexpr const char* kCut = " …";
constexpr std::size_t kMessageWidth = 1000;  // of a line, before it is wrapped
constexpr std::size_t kRowWidth = 160;

class Writer {
 public:
  explicit Writer(bool colour) : colour_(colour) {}

  std::string green(const std::string& text) const { return paint("32", text); }
  std::string red(const std::string& text) const { return paint("31", text); }
  std::string yellow(const std::string& text) const { return paint("33", text); }
  std::string bold(const std::string& text) const { return paint("1", text); }

 private:
  std::string paint(const char* code, const std::string& text) const {
    return colour_ ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  }

  bool colour_;
};

/// Returns whether the byte continues a character of UTF-8.
bool is_inside_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Returns the message in lines. Those that are far too long lose their end, and too many their
/// middle: a hint comes last.
std::vector<std::string> lines_of(const std::string& message) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin <= message.size()) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    if (end > begin) {
      if (lines.size() == kMessageLines) {
        lines.erase(lines.begin() + kFirstLines);
        if (!lines[kFirstLines - 1].ends_with(kCut)) lines[kFirstLines - 1] += kCut;
      }
      std::size_t length = std::min(end - begin, kMessageWidth);
      while (length < end - begin && is_inside_character(message[begin + length])) --length;
      std::string line = visible_text(message.substr(begin, length));
      if (length < end - begin) line += "…";
      lines.push_back(std::move(line));
    }
    begin = end + 1;
  }
  return lines;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !is_inside_character(byte); }));
}

/// Returns the line in rows of at most kRowWidth characters, broken at spaces. A longer word stays
/// whole, and so does a command (./rankbox …), so that it can be copied.
/// @param indent what the first row begins with; others have as many spaces, and two more
/// @param columns of `indent`
std::string rows(const std::string& indent, std::size_t columns, const std::string& line) {
  std::string text = indent;
  std::size_t used = columns;
  for (std::size_t begin = 0; begin < line.size();) {
    std::size_t end = std::min(line.find(' ', begin + 1), line.size());
    std::string_view rest = std::string_view(line).substr(begin);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (rest.starts_with("./rankbox")) end = line.size();
    std::string word = line.substr(begin, end - begin);
    const bool fits_below = columns + 2 + width_of(word) <= kRowWidth && word != kCut;
    if (used + width_of(word) > kRowWidth && begin > 0 && fits_below) {
      text += "\n" + std::string(columns + 2, ' ');
      used = columns + 2;
      word.erase(0, word.find_first_not_of(' '));
    }
    text += word;
    used += width_of(word);
    begin = end;
  }
  return text + "\n";
}

std::string passed(const Verdict& verdict, const Writer& writer) {
  std::string text = fmt::format("{} {}\n", writer.green("✓"), writer.bold(verdict.name));
  for (const Check& check : verdict.checks) {
    if (check.status != CheckStatus::kPass) continue;  // skipped
    std::string heading = check.name;
    for (const std::string& line : lines_of(check.detail)) {
      text += rows(fmt::format("  {:<10}", heading), 12, line);
      heading.clear();
    }
  }
  for (const std::string& warning : verdict.warnings) {
    std::string heading = writer.yellow("warning") + "   ";
    for (const std::string& line : lines_of(warning)) {
      text += rows("  " + heading, 12, line);
      heading = "          ";
    }
  }
  return text;
}

std::string where(const Failure& failure) {
  std::string text;
  if (failure.rank >= 0) text += fmt::format("rank {}", failure.rank);
  if (!failure.op.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", failure.op);
  if (failure.peer >= 0) {
    const bool receives = failure.op == "recv" || failure.op == "irecv";
    const bool sends = failure.op == "send" || failure.op == "isend";
    const char* preposition = receives ? "from" : sends ? "to" : "with";
    text += fmt::format(" {} rank {}", preposition, failure.peer);
  }
  if (!failure.file.empty()) {
    text += text.empty() ? "" : ", ";
    text += failure.file;
    if (failure.line > 0) text += fmt::format(":{}", failure.line);
  }
  return text;
}

std::string checks_in_one_line(const Verdict& verdict, const Writer& writer) {
  std::string text;
  for (const Check& check : verdict.checks) {
    if (check.status == CheckStatus::kPass) text += writer.green(" ✓ ") + check.name;
    if (check.status == CheckStatus::kFail) text += writer.red(" ✗ ") + check.name;
    if (check.status == CheckStatus::kSkipped) text += " · " + check.name;
  }
  return text;
}

/// Returns the kind, or a better word where that would mislead.
const char* kind_in_words(const Failure& failure) {
  // Only an error of a call of ours names the call.
  if (failure.kind == FailureKind::kCrash && !failure.op.empty()) return "bad argument";
  if (failure.message.starts_with("request never waited for")) return "never waited for";
  for (const char* late : {"nothing-overlaps", "bucket-starts-late", "start-when-complete"})
    if (failure.hint.id == late) return "overlap";
  return name_of(failure.kind);
}

std::string failed(const Verdict& verdict, const Failure& failure, const Writer& writer) {
  const bool untouched = verdict.status == Status::kNotImplemented;
  const char* what = untouched                          ? "not implemented yet"
                     : verdict.status == Status::kError ? "not judged, for no fault of yours"
                                                        : kind_in_words(failure);
  std::string text = fmt::format("{} {}: {}\n", untouched ? writer.yellow("○") : writer.red("✗"),
                                 writer.bold(verdict.name), what);
  if (untouched) {
    if (!failure.file.empty())
      text += fmt::format("  {}:{}\n", visible_name(failure.file), failure.line);
    return text;
  }
  for (const std::string& line : lines_of(failure.message)) text += rows("  ", 2, line);
  const std::string place = visible_name(where(failure));
  if (!place.empty()) text += fmt::format("  at: {}\n", place);
  if (!failure.replay.empty()) text += fmt::format("  again: {}\n", failure.replay);
  for (const Check& check : verdict.checks) {
    const bool is_another = check.status == CheckStatus::kFail && check.detail != failure.message;
    if (is_another && !check.detail.empty())
      text += rows("  ", 2, check.name + " too: " + lines_of(check.detail).front());
  }
  const bool any_made =
      std::any_of(verdict.checks.begin(), verdict.checks.end(),
                  [](const Check& check) { return check.status != CheckStatus::kSkipped; });
  if (any_made) text += " " + checks_in_one_line(verdict, writer) + "\n";
  return text;
}

}  // namespace

std::string to_text(const Verdict& verdict, bool colour) {
  const Writer writer(colour);
  if (!verdict.failure) return passed(verdict, writer);
  return failed(verdict, *verdict.failure, writer);
}

}  // namespace rankbox
