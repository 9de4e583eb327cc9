#include "cli/progress.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "cli/paths.h"

namespace rankbox::cli {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

fs::path folder() { return fs::path(project_root()) / ".rankbox"; }
fs::path progress_file() { return folder() / "progress.json"; }

// FNV-1a, 64 bits: tells an edited file from an unedited one, no more.
std::string hash_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::istreambuf_iterator<char> byte(file), end; byte != end; ++byte) {
    hash = (hash ^ static_cast<unsigned char>(*byte)) * 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

// A file that is missing or was spoilt is an empty one.
Json read_progress() {
  std::ifstream file(progress_file());
  Json json = Json::parse(file, nullptr, false);
  return json.is_object() ? json : Json::object();
}

std::string text_at(const Json& entry, const char* key) {
  return entry.is_object() && entry.contains(key) && entry[key].is_string()
             ? entry[key].get<std::string>()
             : std::string();
}

/// Held while the file is read, changed and written back.
class Lock {
 public:
  Lock() : fd_(open((folder() / "progress.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
    if (fd_ >= 0) flock(fd_, LOCK_EX);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (fd_ >= 0) close(fd_);
  }

 private:
  int fd_;
};

}  // namespace

std::string progress_of(const Exercise& exercise) {
  const Json all = read_progress();
  if (!all.contains(exercise.name)) return "not_started";
  const Json& entry = all[exercise.name];
  const fs::path stub = fs::path(project_root()) / stub_path(exercise);
  if (text_at(entry, "hash") != hash_of(stub)) return "changed";
  const std::string status = text_at(entry, "status");
  return status.empty() ? "not_started" : status;
}

void remember(const Exercise& exercise, const Verdict& verdict) {
  std::error_code ignored;
  fs::create_directories(folder(), ignored);
  const Lock lock;
  Json all = read_progress();
  all[exercise.name] = {{"status", name_of(verdict.status)},
                        {"hash", hash_of(fs::path(project_root()) / stub_path(exercise))}};
  // Written beside and renamed: whoever reads sees the old file or the new one, never half of it.
  const fs::path next = progress_file().string() + ".new";
  std::ofstream file(next);
  file << all.dump(2) << '\n';
  file.close();
  if (file) fs::rename(next, progress_file(), ignored);
}

}  // namespace rankbox::cli
