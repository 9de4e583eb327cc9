#include "training/checkpoint.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "comm/errors.h"
#include "comm/tensor.h"
#include "training/checkpoint_numbers.h"
#include "training/data/read_file.h"

namespace rankbox {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they are");

using Json = nlohmann::ordered_json;

constexpr std::string_view kMagic = "rankbox-ckpt-v1\n";
constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3;
  return hash;
}

void append(std::string& bytes, std::uint64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), kNumberBytes);
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, kNumberBytes);
  return number;
}

/// The description in a file of this state, without the numbers' values.
Json describe(const TrainingState& state) {
  Json description;
  description["model"] = state.model;
  description["numbers"] = Json::object();
  for (const auto& [name, value] : state.numbers) description["numbers"][name] = *value;
  description["tensors"] = Json::array();
  for (const auto& [name, slice] : state.tensors) {
    description["tensors"].push_back(
        {{"name", name}, {"dtype", name_of(slice.dtype())}, {"elements", slice.size()}});
  }
  return description;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw InvalidArgument(fmt::format("checkpoint {}: {}", path, why));
}

// ---- Saving -------------------------------------------------------------------------------------

/// A descriptor that is closed when this ends.
class File {
 public:
  File(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }
  bool write_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }
  bool flush() const { return fsync(fd_) == 0; }

 private:
  int fd_;
};

/// Sets errno where it fails.
bool write_beside_and_move(const std::string& path, std::string_view bytes) {
  const std::string part = path + ".part";
  {
    const File file(part, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file.is_open() || !file.write_all(bytes) || !file.flush()) return false;
  }
  if (std::rename(part.c_str(), path.c_str()) != 0) return false;
  // The folder holds the file's name, so it must be flushed, too.
  const File folder(std::filesystem::absolute(path).parent_path(), O_RDONLY | O_DIRECTORY);
  return folder.is_open() && folder.flush();
}

// ---- Loading ------------------------------------------------------------------------------------

/// The description in a file, whose bytes are as they were written.
std::string_view description_in(const std::string& path, std::string_view bytes) {
  const std::string_view magic = bytes.substr(0, kMagic.size());
  if (magic != kMagic.substr(0, magic.size()) || bytes.empty())
    refuse(path, "this is no checkpoint of Rankbox, or of another version");
  const std::size_t least = kMagic.size() + 2 * kNumberBytes;
  if (bytes.size() < least) {
    refuse(path, fmt::format("cut off: it ends after {} bytes, and has at least {}", bytes.size(),
                             least));
  }
  const std::size_t end = bytes.size() - kNumberBytes;
  if (fnv1a(bytes.substr(0, end)) != number_at(bytes, end)) {
    refuse(path, fmt::format("cut off or damaged: the checksum does not fit its {} bytes; use an "
                             "older checkpoint",
                             bytes.size()));
  }
  const std::uint64_t length = number_at(bytes, kMagic.size());
  const std::size_t begin = kMagic.size() + kNumberBytes;
  if (length > end - begin) refuse(path, "its description is longer than the file");
  return bytes.substr(begin, length);
}

/// Refuses a file that differs from `expected`, and names the first difference.
void compare(const std::string& path, const Json& expected, const Json& found) {
  if (found.at("model") != expected.at("model")) {
    refuse(path, fmt::format("it is of the model {}, and this is {}", found.at("model").dump(),
                             expected.at("model").dump()));
  }
  for (const auto& [name, value] : expected.at("numbers").items())
    if (!found.at("numbers").contains(name)) refuse(path, fmt::format("it has no number {}", name));
  const Json& there = found.at("tensors");
  const Json& here = expected.at("tensors");
  for (std::size_t i = 0; i < std::max(there.size(), here.size()); ++i) {
    const std::string is = i < there.size() ? there[i].dump() : "nothing";
    const std::string wanted = i < here.size() ? here[i].dump() : "nothing";
    if (is != wanted) refuse(path, fmt::format("tensor {}: expected {}, found {}", i, wanted, is));
  }
}

}  // namespace

void add_parameters(TrainingState& state, const std::vector<Parameter*>& parameters) {
  for (Parameter* parameter : parameters)
    state.tensors.emplace_back(parameter->name, parameter->value);
}

void add_tensors(TrainingState& state, const std::vector<NamedTensor*>& tensors) {
  for (NamedTensor* tensor : tensors) state.tensors.emplace_back(tensor->name, tensor->value);
}

void save_checkpoint(const std::string& path, const TrainingState& state) {
  const std::string description = describe(state).dump();
  std::string bytes(kMagic);
  append(bytes, description.size());
  bytes += description;
  for (const auto& [name, slice] : state.tensors) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + static_cast<std::size_t>(slice.bytes()));
    if (slice.size() > 0) detail::copy_to_host(bytes.data() + begin, slice);
  }
  append(bytes, fnv1a(bytes));
  if (!write_beside_and_move(path, bytes)) {
    const int why = errno;
    std::error_code ignored;  // the first error counts
    std::filesystem::remove(path + ".part", ignored);
    throw Error(fmt::format("checkpoint {} cannot be written: {}", path,
                            std::generic_category().message(why)));
  }
}

void load_checkpoint(const std::string& path, const TrainingState& state) {
  const std::string bytes = read_file(path);
  const std::string_view description = description_in(path, bytes);
  std::size_t wanted = 0;
  for (const auto& [name, slice] : state.tensors) wanted += static_cast<std::size_t>(slice.bytes());
  const auto begin = static_cast<std::size_t>(description.end() - bytes.data());
  std::vector<std::int64_t> numbers;
  try {
    const Json found = Json::parse(description);
    compare(path, describe(state), found);
    for (const auto& [name, value] : state.numbers) numbers.push_back(found["numbers"].at(name));
  } catch (const Json::exception& error) {
    refuse(path, error.what());
  }
  if (const std::size_t left = bytes.size() - kNumberBytes - begin; left != wanted)
    refuse(path, fmt::format("expected {} bytes of tensors, found {}", wanted, left));

  for (std::size_t i = 0; i < numbers.size(); ++i) *state.numbers[i].second = numbers[i];
  const char* from = bytes.data() + begin;
  for (const auto& [name, slice] : state.tensors) {
    if (slice.size() > 0) detail::copy_from_host(slice, from);
    from += slice.bytes();
  }
}

std::vector<std::pair<std::string, std::int64_t>> checkpoint_numbers(const std::string& path) {
  const std::string bytes = read_file(path);
  std::vector<std::pair<std::string, std::int64_t>> numbers;
  try {
    const Json found = Json::parse(description_in(path, bytes));
    for (const auto& [name, value] : found.at("numbers").items())
      numbers.emplace_back(name, value.get<std::int64_t>());
  } catch (const Json::exception& error) {
    refuse(path, error.what());
  }
  return numbers;
}

}  // namespace rankbox
