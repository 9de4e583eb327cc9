#include "viewer/columns.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <ostream>

#include <nlohmann/json.hpp>

namespace rankbox {
namespace {

static_assert(std::endian::native == std::endian::little, "columns are copied from memory");

constexpr std::size_t kAlignment = 8;

template <class T>
std::vector<T> narrowed(const std::vector<std::int64_t>& values) {
  std::vector<T> result;
  result.reserve(values.size());
  for (const std::int64_t value : values) result.push_back(static_cast<T>(value));
  return result;
}

}  // namespace

void Columns::add_whole(const std::string& name, const std::vector<std::int64_t>& values) {
  const std::int64_t most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  if (most <= std::numeric_limits<std::uint8_t>::max()) {
    add(name, narrowed<std::uint8_t>(values));
  } else if (most <= std::numeric_limits<std::uint16_t>::max()) {
    add(name, narrowed<std::uint16_t>(values));
  } else if (most <= std::numeric_limits<std::uint32_t>::max()) {
    add(name, narrowed<std::uint32_t>(values));
  } else {
    add(name, narrowed<double>(values));
  }
}

nlohmann::ordered_json Columns::index() const {
  auto index = nlohmann::ordered_json::array();
  for (const Column& column : columns_) {
    index.push_back(
        {{"name", column.name}, {"type", column.type}, {"at", column.at}, {"count", column.count}});
  }
  return index;
}

void Columns::write_base64(std::ostream& out) const {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes_.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes_.size(); i += 3) {
    const std::size_t given = std::min<std::size_t>(3, bytes_.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < given ? std::to_integer<std::uint32_t>(bytes_[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= given ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
    }
  }
  out << text;
}

void Columns::append(const std::string& name, const std::string& type,
                     std::span<const std::byte> bytes, std::size_t count) {
  columns_.push_back({name, type, bytes_.size(), count});
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  bytes_.resize((bytes_.size() + kAlignment - 1) / kAlignment * kAlignment);
}

}  // namespace rankbox
