#include "cli/grade/result.h"

#include <utility>

namespace rankbox::cli {

namespace {

/// Returns the word as a shell reads it back.
std::string quoted(const std::string& word) {
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "0123456789_-./+=,@%") == std::string::npos) {
    return word;
  }
  std::string text = word;
  replace_all(text, "'", "'\\''");
  return "'" + text + "'";
}

}  // namespace

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
}

Verdict with_replay(Verdict verdict, const std::string& path) {
  if (verdict.failure) {
    replace_all(verdict.failure->replay, kFilePlaceholder,
                path.empty() ? "" : " --file " + quoted(path));
  }
  return verdict;
}

}  // namespace rankbox::cli
