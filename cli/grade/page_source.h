// The page's sources, combined into one text at build time; see viewer/embed.py.
#pragma once

#include <string_view>

namespace rankbox::cli {

/// HTML with {{grades}} to be filled in.
extern const std::string_view kClassPage;

}  // namespace rankbox::cli
