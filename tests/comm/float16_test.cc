#include "comm/float16.h"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include <doctest/doctest.h>

namespace rankbox {
namespace {

std::uint16_t bits_of(double value) { return Float16(value).bits(); }
std::uint16_t bits_of(float value) { return Float16(value).bits(); }

TEST_CASE("every 16-bit pattern survives the way to float and back") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Float16 half = Float16::from_bits(static_cast<std::uint16_t>(bits));
    const float value = half;
    if (std::isnan(value)) {
      CHECK(std::isnan(float{Float16(value)}));
    } else {
      REQUIRE(Float16(value).bits() == bits);
      REQUIRE(Float16(double{value}).bits() == bits);
    }
  }
}

TEST_CASE("known values have the bits that IEEE 754 gives them") {
  struct Known {
    double value;
    std::uint16_t bits;
  };
  for (const Known& known : {Known{0.0, 0x0000}, Known{-0.0, 0x8000}, Known{1.0, 0x3c00},
                             Known{-2.0, 0xc000}, Known{65504.0, 0x7bff}, Known{0x1p-14, 0x0400},
                             Known{0x1p-24, 0x0001}, Known{1.0 / 3, 0x3555}}) {
    CAPTURE(known.value);
    CHECK(bits_of(known.value) == known.bits);
    CHECK(bits_of(static_cast<float>(known.value)) == known.bits);
  }
}

TEST_CASE("a value between two neighbours goes to the nearer one, and a tie to the even one") {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = float{Float16::from_bits(static_cast<std::uint16_t>(bits))};
    const double high = float{Float16::from_bits(static_cast<std::uint16_t>(bits + 1))};
    const double middle = (low + high) / 2;
    REQUIRE(bits_of(middle) == (bits % 2 == 0 ? bits : bits + 1));
    // So near that float could not tell: double is not rounded twice.
    REQUIRE(bits_of(std::nextafter(middle, low)) == bits);
    REQUIRE(bits_of(std::nextafter(middle, high)) == bits + 1);
  }
}

TEST_CASE("what is too large becomes infinite, what is too small becomes zero, with its sign") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(bits_of(65519.99) == 0x7bff);
  CHECK(bits_of(65520.0) == 0x7c00);
  CHECK(bits_of(-1e300) == 0xfc00);
  CHECK(bits_of(kInfinity) == 0x7c00);
  CHECK(bits_of(0x1p-25) == 0x0000);
  CHECK(bits_of(0x1.8p-25) == 0x0001);
  CHECK(bits_of(-0x1p-26) == 0x8000);
  CHECK(std::isnan(float{Float16(std::numeric_limits<float>::quiet_NaN())}));
}

}  // namespace
}  // namespace rankbox
