#include "cli/grade/result.h"

#include <utility>

#include "cli/support/exec.h"

namespace rankbox::cli {

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
}

Verdict with_replay(Verdict verdict, const std::string& path) {
  if (verdict.failure) {
    replace_all(verdict.failure->replay, kFilePlaceholder,
                path.empty() ? "" : " --file " + quoted_word(path));
  }
  return verdict;
}

}  // namespace rankbox::cli
