// Markdown as HTML that can do no harm, whatever the text says.
#pragma once

#include <string>
#include <string_view>

namespace rankbox::cli {

/// Renders headings (one level lower: the page has its own title), paragraphs, lists, quotes, tables,
/// code (`data-language` is its fence's word), emphasis, images, links, and `<details>` with a
/// `<summary>`, each on a line of its own. Other tags are shown as text.
///
/// A link leads to http or https, or to another chapter ("../NN_topic/README.md", as
/// "#chapter/NN_topic"); others are text. So is an image that is no .svg or .png beside the page.
/// @param base what the names of images are put after: "chapter/02_broadcast/"
std::string safe_html(std::string_view markdown, const std::string& base);

}  // namespace rankbox::cli
