#include "judge/race/grouped.h"

#include <cstddef>

namespace rankbox {

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first_digit = number < 0 ? 1 : 0;
  for (std::size_t end = digits.size(); end > first_digit + 3;) {
    end -= 3;
    digits.insert(end, 1, ',');
  }
  return digits;
}

}  // namespace rankbox
