#include "cli/grade/tokens.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <string>

namespace rankbox::cli {

namespace {

constexpr std::string_view kKeywords[] = {
    "break",  "case",  "catch", "class", "continue", "default", "delete", "do",
    "else",   "false", "for",   "if",    "new",      "nullptr", "return", "struct",
    "switch", "throw", "true",  "try",   "using",    "while"};

constexpr std::string_view kDropped[] = {"const", "constexpr", "{", "}"};

constexpr std::string_view kLongOperators[] = {"::", "->", "++", "--", "+=", "-=", "*=",
                                               "/=", "%=", "==", "!=", "<=", ">=", "&&",
                                               "||", "<<", ">>", "&=", "|=", "^="};

template <std::size_t n>
bool is_among(std::string_view word, const std::string_view (&words)[n]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Token> run() && {
    while (at_ < text_.size()) step();
    return std::move(tokens_);
  }

 private:
  bool sees(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  /// Moves on to `end`, which may be beyond the text's end.
  std::string_view take_until(std::size_t end) {
    const std::string_view taken = text_.substr(at_, end - at_);
    line_ += static_cast<int>(std::count(taken.begin(), taken.end(), '\n'));
    at_ += taken.size();
    return taken;
  }

  /// Returns the position behind the next `what`, from `from` on.
  std::size_t behind(std::string_view what, std::size_t from) const {
    const std::size_t found = text_.find(what, from);
    return found == std::string_view::npos ? text_.size() : found + what.size();
  }

  /// Returns the end of this line, and of those that it continues on.
  std::size_t end_of_line() const {
    std::size_t end = at_;
    do end = behind("\n", end);
    while (end < text_.size() && end >= 2 && text_[end - 2] == '\\');
    return end;
  }

  /// Returns the end of the string or character that begins here.
  std::size_t end_of_quoted() const {
    const char quote = text_[at_];
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n')
      end += text_[end] == '\\' ? 2 : 1;
    return end + 1;
  }

  std::size_t end_of_raw_string() const {
    const std::size_t open = std::min(text_.find('(', at_), text_.size());
    const std::string_view mark = text_.substr(at_ + 2, open - std::min(open, at_ + 2));
    return behind(")" + std::string(mark) + "\"", open);
  }

  std::size_t end_of_word() const {
    std::size_t end = at_;
    const bool number = is_digit(text_[at_]);
    while (end < text_.size() && (is_name(text_[end]) || (number && is_in_number(end)))) ++end;
    return end;
  }

  /// Whether it is a separator, a point, or the sign of an exponent.
  bool is_in_number(std::size_t at) const {
    const char before = text_[at - 1];
    if (text_[at] == '+' || text_[at] == '-') return before == 'e' || before == 'E';
    return text_[at] == '.' || text_[at] == '\'';
  }

  void add(std::string_view normal, int line) {
    if (is_among(normal, kDropped)) return;
    tokens_.push_back({hash_of(normal), line});
    after_ = normal;
  }

  void step() {
    const int line = line_;
    const char c = text_[at_];
    if (is_space(c)) {
      take_until(at_ + 1);
    } else if (c == '#' || sees("//")) {
      take_until(end_of_line());
    } else if (sees("/*")) {
      take_until(behind("*/", at_ + 2));
    } else if (sees("R\"")) {
      take_until(end_of_raw_string());
      add("\"", line);
    } else if (c == '"' || c == '\'') {
      take_until(end_of_quoted());
      add("\"", line);
    } else if (is_digit(c)) {
      take_until(end_of_word());
      add("0", line);
    } else if (is_name(c)) {
      const bool kept = after_ == "." || after_ == "->" || after_ == "::";
      const std::string_view word = take_until(end_of_word());
      add(kept || is_among(word, kKeywords) || is_among(word, kDropped) ? word : "x", line);
    } else {
      const bool is_long = is_among(text_.substr(at_, 2), kLongOperators);
      add(take_until(at_ + (is_long ? 2 : 1)), line);
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::string_view after_;  // the last token
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Scanner(text).run(); }

}  // namespace rankbox::cli
