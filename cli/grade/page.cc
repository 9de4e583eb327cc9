#include "cli/grade/page.h"

#include <string_view>

#include "cli/grade/formats/formats.h"
#include "cli/grade/page_source.h"

namespace rankbox::cli {
namespace {

constexpr std::string_view kHole = "{{grades}}";

/// Returns JSON for the inside of a script, where "</script>" in a string would end the script.
std::string script_safe(const std::string& json) {
  std::string text;
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string page_of(const ClassReport& report) {
  const std::size_t at = kClassPage.find(kHole);
  return std::string(kClassPage.substr(0, at)) + script_safe(to_json(report)) +
         std::string(kClassPage.substr(at + kHole.size()));
}

}  // namespace rankbox::cli
