// The head of an animated SVG: its title, a description, and the failure of its run.
#pragma once

#include <string>
#include <string_view>

namespace rankbox {

inline constexpr double kFailureLine = 20;  // pixels below the title

struct SvgHead {
  std::string title;
  std::string description;
  std::string failure;  // what ended the run; empty on success
};

/// Returns the title, or "title (the run failed)".
std::string title_of(const SvgHead& head);

/// Returns the first tag, and the title and the description that screen readers read.
std::string open_svg(const SvgHead& head, double width, double height);

/// Returns the ground, the title as text of class "b" and, below it, what fits of the failure's
/// first line, of class "f".
std::string ground_and_title(const SvgHead& head, double width, double height);

}  // namespace rankbox
