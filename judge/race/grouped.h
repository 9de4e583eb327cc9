// Whole numbers with thousands separators: 1,000,000.
#pragma once

#include <cstdint>
#include <string>

namespace rankbox {

/// Returns "-1,234,567".
std::string grouped(std::int64_t number);

}  // namespace rankbox
