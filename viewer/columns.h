// Millions of numbers for a browser: typed columns in base64.
//
// Each column has one type, and columns follow each other. A script turns a column into a typed
// array without reading the numbers one by one, so a page with a million events opens quickly. A
// JSON array of them would take ten times as long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace rankbox {

class Columns {
 public:
  /// Adds a column of exactly this type.
  template <class T>
  void add(const std::string& name, const std::vector<T>& values) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    append(name, type_name<T>(), std::as_bytes(std::span(values)), values.size());
  }

  /// Adds whole numbers in the smallest type that holds all of them. REQUIRES: 0 <= each < 2^53.
  void add_whole(const std::string& name, const std::vector<std::int64_t>& values);

  /// Returns `[{"name", "type", "at", "count"}]`: types are u8 u16 u32 f32 f64, `at` is in bytes.
  nlohmann::ordered_json index() const;

  /// Writes all columns, little-endian, each aligned to 8 bytes.
  void write_base64(std::ostream& out) const;

 private:
  struct Column {
    std::string name;
    std::string type;
    std::size_t at = 0;
    std::size_t count = 0;
  };

  template <class T>
  static std::string type_name() {
    const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
    return kind + std::to_string(8 * sizeof(T));
  }

  void append(const std::string& name, const std::string& type, std::span<const std::byte> bytes,
              std::size_t count);

  std::vector<Column> columns_;
  std::vector<std::byte> bytes_;
};

}  // namespace rankbox
