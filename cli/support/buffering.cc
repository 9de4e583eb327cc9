#include "cli/support/buffering.h"

#include <string_view>

#include <fmt/format.h>

#include "cli/support/lists.h"
#include "comm/errors.h"

namespace rankbox::cli {

Buffering parse_buffering(const std::string& text) {
  if (text == "rendezvous") return Buffering::rendezvous();
  if (text == "unbounded") return Buffering::unbounded();
  constexpr std::string_view kEager = "eager:";
  if (text.starts_with(kEager))
    return Buffering::eager(parse_bytes(std::string_view(text).substr(kEager.size())));
  throw InvalidArgument(fmt::format(
      "unknown buffering \"{}\": choose rendezvous, eager:BYTES (like eager:64K) or unbounded",
      text));
}

}  // namespace rankbox::cli
