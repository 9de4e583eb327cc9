#include "training/data/csv.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/data/read_file.h"
#include "training/data/utf8.h"

namespace rankbox {
namespace {

class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  std::vector<CsvRecord> all() {
    std::vector<CsvRecord> records;
    while (at_ < text_.size()) {
      if (end_of_line()) continue;
      records.push_back(record());
      const std::size_t found = records.back().fields.size();
      const std::size_t expected = records.front().fields.size();
      if (found != expected) {
        // Its end of line was read.
        const int last = at_ == text_.size() && !text_.ends_with('\n') ? line_ : line_ - 1;
        const std::string to =
            last > records.back().line
                ? fmt::format(" up to line {}: is a quote to close earlier?", last)
                : "";
        refuse(records.back().line,
               fmt::format("expected {} fields, as in the first record, found {}{}", expected,
                           found, to));
      }
    }
    return records;
  }

 private:
  [[noreturn]] void refuse(int line, const std::string& what) const {
    throw InvalidArgument(fmt::format("{}:{}: {}", source_, line, what));
  }

  CsvRecord record() {
    CsvRecord record{{}, line_};
    for (;;) {
      record.fields.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted() : plain());
      if (at_ == text_.size() || end_of_line()) return record;
      ++at_;  // the comma
    }
  }

  std::string plain() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && !at_end_of_line()) {
      if (text_[at_] == '"') refuse(line_, "a quote inside a field: put the whole field in quotes");
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string quoted() {
    const int begin = line_;
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        const bool is_quote = at_ < text_.size() && text_[at_] == '"';
        if (!is_quote) {
          if (at_ == text_.size() || text_[at_] == ',' || at_end_of_line()) return field;
          refuse_after_quote(begin);
        }
      }
      line_ += text_[at_] == '\n' ? 1 : 0;
      field += text_[at_];
    }
    refuse(begin, "a quote opens here that is never closed");
  }

  /// @param begin the line in which the field's quote opened
  [[noreturn]] void refuse_after_quote(int begin) const {
    if (begin == line_)
      refuse(begin, "text after a closing quote: expected a comma or the end of the line");
    refuse(begin, fmt::format("the quote that opens here closes in line {}, where text follows: "
                              "is it to close earlier?",
                              line_));
  }

  bool at_end_of_line() const {
    const std::string_view rest = text_.substr(at_);
    return rest.starts_with('\n') || rest.starts_with("\r\n");
  }
  /// Skips it, if there is one.
  bool end_of_line() {
    if (!at_end_of_line()) return false;
    at_ += text_[at_] == '\r' ? 2 : 1;
    ++line_;
    return true;
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  int line_ = 1;
};

std::string quoted_for_shell(std::string_view word) {
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
  return quoted + "'";
}

}  // namespace

std::vector<CsvRecord> parse_csv(std::string_view text, const std::string& source) {
  // Spreadsheets begin a file with the byte order mark, which is no part of the first field.
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (const auto wrong = find_not_utf8(text)) {
    const auto line = 1 + std::ranges::count(text.substr(0, wrong->offset), '\n');
    const std::string fix = wrong->encoding.empty()
                                ? "mend it, or get the file again"
                                : fmt::format("convert it: iconv -f {} -t UTF-8 {} >new.csv",
                                              wrong->encoding, quoted_for_shell(source));
    throw InvalidArgument(fmt::format("{}:{}: {}: {}", source, line, wrong->problem, fix));
  }
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return CsvParser(text, source).all();
}

std::vector<CsvRecord> read_csv(const std::string& path) {
  return parse_csv(read_file(path), path);
}

}  // namespace rankbox
