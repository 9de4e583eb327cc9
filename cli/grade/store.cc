#include "cli/grade/store.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <random>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comm/errors.h"
#include "judge/verdict_json.h"

namespace rankbox::cli {
namespace {

using Json = nlohmann::ordered_json;

// Of the first line of a store, which a power cut may have cut off.
constexpr std::string_view kBegin = "{\"secret\":";

[[noreturn]] void fail(const std::string& path) {
  throw Error(fmt::format("cannot keep results in {}: {}", path, std::strerror(errno)));
}

std::string read_all(int fd, const std::string& path) {
  std::string text;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

Json to_stored(const GradeResult& result) {
  return {{"verdict", Json::parse(rankbox::to_json(result.verdict))},
          {"seconds", result.seconds},
          {"printed", result.printed},
          {"compiler_output", result.compiler_output},
          {"drawn", result.drawn},
          {"picture", result.picture},
          {"waits", result.waits}};
}

GradeResult result_from(const Json& json) {
  GradeResult result;
  result.verdict = verdict_from_json(json.at("verdict").dump());
  result.seconds = json.at("seconds");
  result.printed = json.at("printed");
  result.compiler_output = json.at("compiler_output");
  result.drawn = json.at("drawn");
  result.picture = json.at("picture");
  result.waits = json.at("waits");
  return result;
}

}  // namespace

ResultStore::ResultStore(const std::string& path, bool forget) : path_(path) {
  fd_.reset(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  // It holds the secret of the inputs.
  if (!fd_.is_open() || fchmod(fd_.get(), 0600) != 0) fail(path);
  if (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw InvalidArgument(fmt::format(
        "another rankbox grade is using {}: wait for it, or choose another --state", path));
  }
  const std::string text = read_all(fd_.get(), path);
  // The last line may have been cut off.
  const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  std::istringstream lines(text.substr(0, whole));
  for (std::string line; std::getline(lines, line);) read_line(line);
  if (secret_.empty() && !text.starts_with(kBegin) && !kBegin.starts_with(text)) {
    throw InvalidArgument(
        fmt::format("{} holds something other than results: choose another --state", path));
  }
  if (forget) {
    secret_.clear();
    results_.clear();
  }
  const std::size_t kept = forget ? 0 : whole;
  if (kept < text.size() && ftruncate(fd_.get(), static_cast<off_t>(kept)) != 0) fail(path);
  if (secret_.empty()) draw_secret();
}

void ResultStore::draw_secret() {
  constexpr int kWords = 4;  // of 32 bits
  std::random_device random;
  for (int i = 0; i < kWords; ++i) secret_ += fmt::format("{:08x}", random());
  append(Json({{"secret", secret_}}).dump());
}

const GradeResult* ResultStore::find(const std::string& key) const {
  const auto found = results_.find(key);
  return found == results_.end() ? nullptr : &found->second;
}

void ResultStore::add(const std::string& key, const GradeResult& result) {
  results_[key] = result;
  append(Json({{"key", key}, {"result", to_stored(result)}}).dump());
}

void ResultStore::read_line(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    if (json.contains("secret")) secret_ = json.at("secret");
    if (json.contains("key")) results_[json.at("key")] = result_from(json.at("result"));
  } catch (const std::exception&) {
    // Not one of ours: that file is graded again.
  }
}

void ResultStore::append(const std::string& line) {
  if (!write_all(fd_.get(), line + "\n")) fail(path_);
}

}  // namespace rankbox::cli
