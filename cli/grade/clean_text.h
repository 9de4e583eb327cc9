// Text from strangers, made fit for terminals, XML and JSON.
#pragma once

#include <string>
#include <string_view>

namespace rankbox::cli {

/// Returns the text as valid UTF-8 with no control characters but line ends and tabs; U+FFFD stands
/// for each that was there. XML 1.0 allows no others, and a terminal would obey them.
std::string clean_text(std::string_view text);

}  // namespace rankbox::cli
