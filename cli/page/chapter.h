// The pages of the chapters as HTML, and their drawings.
#pragma once

#include <string>

namespace rankbox::cli {

/// Returns the chapter's page as safe_html() renders it. Empty if there is no such chapter.
/// @param folder "02_broadcast"
std::string chapter_html(const std::string& folder);

/// Returns the bytes of a file beside the chapter's page. Empty if there is none.
/// @param name a name without a folder: "ring.svg"
std::string chapter_drawing(const std::string& folder, const std::string& name);

}  // namespace rankbox::cli
