// The likely cause of an error or a failure, or the fix: a part of its message.
//
// The text may be reworded; the id stays. Tests, and readers of a verdict's JSON, match the id.
#pragma once

#include <string>
#include <tuple>
#include <utility>

namespace rankbox {

struct Hint {
  Hint() = default;  // none
  Hint(std::string its_id, std::string its_text)
      : id(std::move(its_id)), text(std::move(its_text)) {}

  std::string id;  // in kebab-case; hints that say different things have different ones
  std::string text;
};

// For comm/result_bytes.h.
inline auto fields_of(Hint& hint) { return std::tie(hint.id, hint.text); }

}  // namespace rankbox
