#include "viewer/html.h"

#include <ostream>
#include <string_view>

#include "viewer/html_data.h"
#include "viewer/page.h"

namespace rankbox {
namespace {

/// Returns JSON for the inside of a script, where "</script>" in a string would end the script.
std::string script_safe(const nlohmann::ordered_json& json) {
  // File names may be in any encoding.
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  std::string text;
  for (const char c : json.dump(-1, ' ', /*ensure_ascii=*/false, replace)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string_view html_policy() {
  constexpr std::string_view kBefore = "Content-Security-Policy\" content=\"";
  const std::size_t begin = kPage.find(kBefore) + kBefore.size();
  return kPage.substr(begin, kPage.find('"', begin) - begin);
}

void write_html(std::ostream& out, const Trace& trace, const Replay& replay,
                const HtmlOptions& options) {
  const HtmlData data = html_data(trace, replay, options);
  std::string_view rest = kPage;
  while (!rest.empty()) {
    const std::size_t open = rest.find("{{");
    out << rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find("}}", open);
    const std::string_view name = rest.substr(open + 2, close - open - 2);
    if (name == "title") out << escape_html(options.title);
    if (name == "summary") out << escape_html(options.summary);
    if (name == "head") out << script_safe(data.head);
    if (name == "columns") data.columns.write_base64(out);
    rest.remove_prefix(close + 2);
  }
}

}  // namespace rankbox
