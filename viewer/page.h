// The page's sources, combined into one text at build time; see embed.py.
#pragma once

#include <string_view>

namespace rankbox {

/// HTML with {{title}}, {{summary}}, {{head}} and {{columns}} to be filled in.
extern const std::string_view kPage;

}  // namespace rankbox
