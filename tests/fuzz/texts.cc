#include <cstdlib>
#include <stdexcept>
#include <string>

#include "cli/plugin/compiler_message.h"
#include "comm/error_bytes.h"
#include "judge/stop_report.h"
#include "judge/verdict_json.h"
#include "judge/visible_text.h"
#include "tests/fuzz/targets.h"

namespace rankbox::fuzz {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void read_verdict(const std::string& text) {
  const Verdict verdict = verdict_from_json(text);
  const std::string json = to_json(verdict);
  require(to_json(verdict_from_json(json)) == json);
  require(verdict.passed() != verdict.failure.has_value());
}

void read_stop(const std::string& text) {
  if (const auto stop = parse_stop(text)) {
    require(in_words(*stop).size() < 1000);
    require(hexadecimal_words(stop->addresses) == stop->addresses);
  }
}

void read_visible(const std::string& text) {
  const std::string visible = visible_text(text);
  require(visible_text(visible) == visible);
  require(visible_name(text).find('\n') == std::string::npos);
}

}  // namespace

void read_text(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    switch (data[0] % 5) {
      case 0:
        return read_verdict(text);
      case 1:
        return read_stop(text);
      case 2:
        return require(error_from_bytes(text) != nullptr);
      case 3:
        return require(cli::failure_in(text).kind == FailureKind::kCompile);
      default:
        return read_visible(text);
    }
  } catch (const std::runtime_error&) {  // the reader refuses it
  }
}

}  // namespace rankbox::fuzz
