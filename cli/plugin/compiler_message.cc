#include "cli/plugin/compiler_message.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/plugin/precompiled.h"

namespace rankbox::cli {
namespace {

/// Removes the prefix, and returns whether the text had it.
bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Removes a number and a colon, and returns the number.
std::optional<int> skip_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || end == text.data() + text.size() || *end != ':')
    return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

struct Line {
  std::string_view file;
  int number = 0;
  std::string_view message;
};

/// Parses "file.cc:12:3: error: message". The linker writes "file.cc:12: undefined …" instead. A
/// warning, or a line of the source that the compiler quotes, may have such text within.
std::optional<Line> error_in(std::string_view line) {
  if (line.starts_with(' ')) return std::nullopt;
  for (std::size_t at = line.find(':', 1); at != std::string_view::npos;
       at = line.find(':', at + 1)) {
    std::string_view rest = line.substr(at + 1);
    const std::optional<int> number = skip_number(rest);
    if (!number) continue;
    skip_number(rest);  // the column
    if (!skip(rest, " ")) continue;
    if (rest.starts_with("warning: ") || rest.starts_with("note: ")) return std::nullopt;
    skip(rest, "fatal ");
    if (skip(rest, "error: ")) return Line{line.substr(0, at), *number, rest};
  }
  return std::nullopt;
}

/// Returns the message without its front if it is about a call of a function with the attribute
/// `error` in comm/tensor.h, whose own message is enough.
std::string_view without_call(std::string_view message) {
  if (!message.starts_with("call to ")) return message;
  for (const std::string_view declared :
       {" declared with attribute error: ", " declared with 'error' attribute: "}) {
    const std::size_t at = message.find(declared);
    if (at == std::string_view::npos) continue;
    const std::string_view own = message.substr(at + declared.size());
    if (own.starts_with("tensors are in the memory of a GPU")) return own;
  }
  return message;
}

/// Returns "'Comm' has no member …" for "'using Comm = … class …' {aka 'class …'} has no member …".
std::string with_short_types(std::string message) {
  constexpr std::string_view kUsing = "'using ", kIs = " = ", kAlso = " {aka '";
  for (std::size_t at = 0; (at = message.find(kUsing, at)) != std::string::npos; ++at) {
    const std::size_t name = at + kUsing.size();
    const std::size_t is = message.find(kIs, name);
    const std::size_t also = message.find(kAlso, name);
    const std::size_t end = also == std::string::npos ? also : message.find("'}", also);
    if (end == std::string::npos || is > also) break;
    message =
        message.substr(0, at + 1) + message.substr(name, is - name) + "'" + message.substr(end + 2);
  }
  return message;
}

/// Returns the message for a header that a compilation does not see; empty if the compiler's
/// message is about something else.
std::string message_about_missing(std::string_view message) {
  for (const std::string_view missing : {": No such file or directory", " file not found"}) {
    if (!message.ends_with(missing)) continue;
    std::string_view header = message.substr(0, message.size() - missing.size());
    skip(header, "'");
    if (header.ends_with('\'')) header.remove_suffix(1);
    return fmt::format(
        "{} cannot be included: the headers of C++, of {}/ and beside this file can, and "
        "comm/comm.h",
        header, fmt::join(public_folders(), "/, "));
  }
  return "";
}

}  // namespace

Failure failure_in(const std::string& output) {
  Failure failure;
  failure.kind = FailureKind::kCompile;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (const std::optional<Line> error = error_in(line)) {
      failure.file = error->file;
      failure.line = error->number;
      failure.message = message_about_missing(error->message);
      if (failure.message.empty())
        failure.message = with_short_types(std::string(without_call(error->message)));
      return failure;
    }
    if (line.find("out of memory") != std::string::npos ||
        line.find("virtual memory exhausted") != std::string::npos) {
      failure.message = "the compiler needs too much memory: does a template never end?";
      return failure;
    }
    // The assembler's are capitalized.
    const std::size_t error = std::min(line.find("error"), line.find("Error"));
    const bool is_quoted = line.starts_with(' ');
    if (failure.message.empty() && !is_quoted && error != std::string::npos)
      failure.message =
          line.starts_with('/') ? "the assembler or the linker: " + line.substr(error) : line;
  }
  if (failure.message.empty()) failure.message = "the compiler refuses this file";
  return failure;
}

}  // namespace rankbox::cli
