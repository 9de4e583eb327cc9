// Results as bytes, to send them between processes. Supports numbers, enums, other plain data, and
// strings, vectors, optionals, pairs and tuples of them. A custom struct also needs a function that
// ties its fields:
//
//   inline auto fields_of(Point& p) { return std::tie(p.x, p.name); }
//
// All processes run the same program on machines of the same kind, so bytes are copied as they are.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rankbox {

template <class T>
concept HasFields = requires(T& value) {
  fields_of(value);
};

/// Appends to bytes.
class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    if constexpr (HasFields<T>) {
      std::apply([this](auto&... field) { (put(field), ...); },
                 fields_of(const_cast<T&>(value)));  // only reads them
    } else {
      static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
      bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
    }
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(std::string_view text) {
    put(text.size());
    bytes += text;
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    for (const T& value : values) put(value);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class A, class B>
  void put(const std::pair<A, B>& pair) {
    put(pair.first);
    put(pair.second);
  }
  template <class... T>
  void put(const std::tuple<T...>& tuple) {
    std::apply([this](const auto&... value) { (put(value), ...); }, tuple);
  }

  std::string bytes;
};

/// Reads the same values in the same order. Throws std::runtime_error if the bytes end too early.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  void get(T& value) {
    if constexpr (HasFields<T>) {
      std::apply([this](auto&... field) { (get(field), ...); }, fields_of(value));
    } else {
      static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
      std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    }
  }
  void get(std::string& text) { text = next_text(); }
  template <class T>
  void get(std::vector<T>& values) {
    values.clear();
    for (std::size_t left = get_size(); left > 0; --left) values.push_back(next<T>());
  }
  template <class T>
  void get(std::optional<T>& value) {
    value.reset();
    if (next<std::uint8_t>() != 0) value = next<T>();  // a foreign byte need not be a bool
  }
  template <class A, class B>
  void get(std::pair<A, B>& pair) {
    get(pair.first);
    get(pair.second);
  }
  template <class... T>
  void get(std::tuple<T...>& tuple) {
    std::apply([this](auto&... value) { (get(value), ...); }, tuple);
  }

  template <class T>
  T next() {
    T value{};
    get(value);
    return value;
  }

  /// As next<std::string>(), without a copy: it lives as long as the bytes.
  std::string_view next_text() { return take(get_size()); }

 private:
  std::size_t get_size() { return next<std::size_t>(); }
  std::string_view take(std::size_t count) {
    if (count > bytes_.size()) throw std::runtime_error("a result of another process is cut short");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view bytes_;
};

namespace detail {
template <class T>
struct IsPortable : std::bool_constant<(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>) ||
                                       HasFields<T>> {};
template <>
struct IsPortable<std::string> : std::true_type {};
template <class T>
struct IsPortable<std::vector<T>> : IsPortable<T> {};
template <class T>
struct IsPortable<std::optional<T>> : IsPortable<T> {};
template <class A, class B>
struct IsPortable<std::pair<A, B>> : std::conjunction<IsPortable<A>, IsPortable<B>> {};
template <class... T>
struct IsPortable<std::tuple<T...>> : std::conjunction<IsPortable<T>...> {};
}  // namespace detail

/// The types that ByteWriter and ByteReader support.
template <class T>
concept Portable = detail::IsPortable<T>::value && std::is_default_constructible_v<T>;

template <Portable T>
std::string to_bytes(const T& value) {
  ByteWriter writer;
  writer.put(value);
  return std::move(writer.bytes);
}

template <Portable T>
T from_bytes(std::string_view bytes) {
  return ByteReader(bytes).next<T>();
}

}  // namespace rankbox
