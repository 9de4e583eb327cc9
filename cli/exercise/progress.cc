#include "cli/exercise/progress.h"

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "cli/support/paths.h"
#include "comm/errors.h"
#include "files/output_file.h"
#include "files/text_digest.h"

namespace rankbox::cli {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

fs::path folder() { return state_folder(); }
fs::path progress_file() { return folder() / "progress.json"; }

std::string digest_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return text_digest(std::string(std::istreambuf_iterator<char>(file), {}));
}

/// Discarded if it is no progress file.
Json parse_progress() {
  std::ifstream file(progress_file());
  if (!file) return Json::object();
  Json json = Json::parse(file, nullptr, false);
  return json.is_object() ? json : Json(Json::value_t::discarded);
}

Json read_progress() {
  Json json = parse_progress();
  return json.is_discarded() ? Json::object() : json;
}

Json entry_of(const Exercise& exercise) {
  const Json all = read_progress();
  return all.contains(exercise.name) ? all[exercise.name] : Json();
}

std::string text_at(const Json& entry, const char* key) {
  return entry.is_object() && entry.contains(key) && entry[key].is_string()
             ? entry[key].get<std::string>()
             : std::string();
}

std::int64_t number_at(const Json& entry, const char* key) {
  return entry.is_object() && entry.contains(key) && entry[key].is_number_integer()
             ? entry[key].get<std::int64_t>()
             : 0;
}

fs::path own_file(const Exercise& exercise) { return absolute_path(stub_path(exercise)); }

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

void tell(const std::string& what) { fmt::print(stderr, "rankbox: {}\n", what); }

/// Moves a file that cannot be read out of the way, under an unused name.
void keep_spoilt_file() {
  fs::path backup = folder() / "progress.spoilt.json";
  for (int i = 2; fs::exists(backup); ++i)
    backup = folder() / fmt::format("progress.spoilt-{}.json", i);
  fs::rename(progress_file(), backup);
  tell(fmt::format("{} cannot be read: it is kept as {}, and progress begins anew",
                   display_path(progress_file()), display_path(backup)));
}

/// Applies `edit` to an exercise's entry in the file. An entry that it sets to null is removed.
void change(const Exercise& exercise, const std::function<void(Json& entry)>& edit) {
  try {
    fs::create_directories(folder());
    const Lock lock;
    Json all = parse_progress();
    if (all.is_discarded()) {
      keep_spoilt_file();
      all = Json::object();
    }
    Json& entry = all[exercise.name];
    if (!entry.is_object()) entry = Json::object();
    edit(entry);
    if (entry.is_null()) all.erase(exercise.name);
    write_file(progress_file(), all.dump(2) + '\n');
  } catch (const fs::filesystem_error& error) {
    tell(fmt::format("progress is not saved: {}: {}", error.path1().string(),
                     error.code().message()));
  } catch (const Error& error) {
    tell(fmt::format("progress is not saved: {}", error.what()));
  }
}

}  // namespace

std::string progress_of(const Exercise& exercise) {
  const Json entry = entry_of(exercise);
  const std::string status = text_at(entry, "status");
  if (status.empty()) return "not_started";
  return text_at(entry, "hash") == digest_of(own_file(exercise)) ? status : "changed";
}

bool was_judged(const Exercise& exercise) {
  const std::string status = text_at(entry_of(exercise), "status");
  return !status.empty() && status != name_of(Status::kNotImplemented);
}

void remember(const Exercise& exercise, const Verdict& verdict) {
  change(exercise, [&](Json& entry) {
    entry["status"] = name_of(verdict.status);
    entry["hash"] = digest_of(own_file(exercise));
  });
}

void remember_as_latest(const Exercise& exercise) {
  change(exercise,
         [](Json& entry) { entry["when"] = static_cast<std::int64_t>(std::time(nullptr)); });
}

const Exercise* latest_exercise() {
  const Exercise* latest = nullptr;
  std::int64_t latest_when = 0;
  for (const Exercise& exercise : exercises()) {
    const std::int64_t when = number_at(entry_of(exercise), "when");
    if (when <= latest_when) continue;
    latest = &exercise;
    latest_when = when;
  }
  return latest;
}

int hints_seen(const Exercise& exercise) {
  return static_cast<int>(number_at(entry_of(exercise), "hints"));
}

void remember_hints(const Exercise& exercise, int seen) {
  change(exercise, [&](Json& entry) { entry["hints"] = seen; });
}

std::string prediction_of(const Exercise& exercise) {
  return text_at(entry_of(exercise), "prediction");
}

void remember_prediction(const Exercise& exercise, const std::string& prediction) {
  change(exercise, [&](Json& entry) { entry["prediction"] = prediction; });
}

void forget(const Exercise& exercise) {
  change(exercise, [](Json& entry) { entry = nullptr; });
}

}  // namespace rankbox::cli
