// The page's sources, made into one text when Rankbox is built; see embed.py.
#pragma once

#include <string_view>

namespace rankbox {

/// HTML with {{title}}, {{summary}}, {{head}} and {{columns}} to be filled in.
extern const std::string_view kPage;

}  // namespace rankbox
