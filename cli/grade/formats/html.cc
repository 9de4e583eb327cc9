#include <string>
#include <string_view>

#include "cli/grade/formats/formats.h"
#include "cli/grade/page_source.h"
#include "cli/grade/result.h"

namespace rankbox::cli {

std::string to_html(const ClassReport& report) {
  constexpr std::string_view kHole = "{{grades}}";
  const std::size_t at = kClassPage.find(kHole);
  std::string json = to_json(report);
  replace_all(json, "<", "\\u003c");  // "</script>" in a string would end the script
  return std::string(kClassPage.substr(0, at)) + json +
         std::string(kClassPage.substr(at + kHole.size()));
}

}  // namespace rankbox::cli
