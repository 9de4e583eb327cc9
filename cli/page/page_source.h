// The live page's sources, combined into one text at build time; see viewer/embed.py.
#pragma once

#include <string_view>

namespace rankbox::cli {

extern const std::string_view kLivePage;

}  // namespace rankbox::cli
