#include "cli/grade/clean_text.h"

#include <nlohmann/json.hpp>

namespace rankbox::cli {

std::string clean_text(std::string_view text) {
  using Json = nlohmann::json;
  const std::string replacement = "\uFFFD";
  // The library knows what valid UTF-8 is.
  const std::string valid =
      Json::parse(Json(text).dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
  std::string clean;
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const auto byte = static_cast<unsigned char>(valid[i]);
    const auto next = static_cast<unsigned char>(i + 1 < valid.size() ? valid[i + 1] : 0);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) {
      clean += replacement;
    } else if (byte == 0xc2 && next < 0xa0) {  // U+0080 to U+009F
      clean += replacement;
      ++i;
    } else if (valid.compare(i, 3, "\uFFFE") == 0 || valid.compare(i, 3, "\uFFFF") == 0) {
      clean += replacement;
      i += 2;
    } else {
      clean += valid[i];
    }
  }
  return clean;
}

}  // namespace rankbox::cli
