// A route: a group, and the world ranks of a sender and a receiver in it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankbox {

struct Route {
  int group = 0;
  int source = 0;
  int destination = 0;
  bool operator==(const Route&) const = default;
};

struct HashOfRoute {
  std::size_t operator()(const Route& route) const {
    const auto number = [](int value) { return static_cast<std::uint64_t>(value); };
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
    std::uint64_t hash = (number(route.source) << 32 | number(route.destination)) * kOdd;
    hash = (hash ^ hash >> 32 ^ number(route.group)) * kOdd;
    return hash ^ hash >> 32;
  }
};

}  // namespace rankbox
