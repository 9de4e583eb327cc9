#include "judge/seal/place_table.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "comm/thread_annotations.h"

namespace rankbox::seal {

namespace {

constexpr std::size_t kMostPlaces = 10'000;
constexpr std::size_t kMostCharacters = 300;

/// What std::source_location points to, in GCC's and clang's libraries.
struct Where {
  const char* file;
  const char* function;
  unsigned line;
  unsigned column;
};

struct Entry {
  std::string file;
  Where where = {};
};

class Table {
 public:
  const Where* find(const std::string& file, unsigned line) {
    const Lock held(lock_);
    const std::size_t places = entries_.size();
    auto& entry =
        entries_[places < kMostPlaces ? std::pair(file, line) : std::pair(std::string(), 0U)];
    if (entry == nullptr) {
      entry = std::make_unique<Entry>(Entry{file, {}});
      entry->where = {entry->file.c_str(), "", line, 0};
    }
    return &entry->where;
  }

 private:
  Mutex lock_;
  std::map<std::pair<std::string, unsigned>, std::unique_ptr<Entry>> entries_ GUARDED_BY(lock_);
};

std::vector<std::string>& files() {
  static std::vector<std::string> files;
  return files;
}

}  // namespace

void set_files(std::vector<std::string> names) { files() = std::move(names); }

std::string known_file(std::string file) {
  file.resize(std::min(file.size(), kMostCharacters));
  for (char& each : file) {
    if (std::isprint(static_cast<unsigned char>(each)) == 0) each = '?';
  }
  const std::string normal = std::filesystem::path(file).lexically_normal();
  if (!files().empty() && std::ranges::count(files(), normal) == 0) file = files().front();
  return file;
}

Place place_of(std::string file, unsigned line) {
  static Table table;
  const Where* const where = table.find(known_file(std::move(file)), line);
#if defined(__cpp_lib_source_location)
  static_assert(sizeof(Place) == sizeof(const Where*));
  return std::bit_cast<Place>(where);
#else
  return Place::current(where->file, where->line, where->function);
#endif
}

}  // namespace rankbox::seal
