#include "viewer/svg_head.h"

#include <cstddef>

#include <fmt/format.h>

#include "viewer/html.h"

namespace rankbox {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Returns at most `most` bytes, and "…" if more is left out, which never cuts a character.
std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most) + "…";
}

}  // namespace

std::string title_of(const SvgHead& head) {
  return head.title + (head.failure.empty() ? "" : " (the run failed)");
}

std::string open_svg(const SvgHead& head, double width, double height) {
  std::string description = head.description;
  if (!head.failure.empty())
    description += " The run failed, and the picture ends there: " + first_line(head.failure);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
      "height=\"{1:g}\" role=\"img\" aria-labelledby=\"t d\">\n"
      "<title id=\"t\">{2}</title>\n<desc id=\"d\">{3}</desc>\n",
      width, height, escape_html(title_of(head)), escape_html(description));
}

std::string ground_and_title(const SvgHead& head, double width, double height) {
  std::string svg = fmt::format(
      "<rect class=\"bg\" width=\"{:g}\" height=\"{:g}\" rx=\"8\"/>\n"
      "<text class=\"b\" x=\"12\" y=\"22\">{}</text>\n",
      width, height, escape_html(title_of(head)));
  if (head.failure.empty()) return svg;
  constexpr double kLetter = 8.2;  // pixels
  const auto most = static_cast<std::size_t>((width - 24) / kLetter);
  const std::string text = shortened("failed: " + first_line(head.failure), most);
  return svg + fmt::format("<text class=\"f\" x=\"12\" y=\"42\">{}</text>\n", escape_html(text));
}

}  // namespace rankbox
