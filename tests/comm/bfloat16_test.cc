#include "comm/bfloat16.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include <doctest/doctest.h>

namespace rankbox {
namespace {

std::uint16_t bits_of(double value) { return BFloat16(value).bits(); }
std::uint16_t bits_of(float value) { return BFloat16(value).bits(); }

TEST_CASE("every 16-bit pattern survives the way to float and back") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const BFloat16 half = BFloat16::from_bits(static_cast<std::uint16_t>(bits));
    const float value = half;
    if (std::isnan(value)) {
      CHECK(std::isnan(float{BFloat16(value)}));
    } else {
      REQUIRE(BFloat16(value).bits() == bits);
      REQUIRE(BFloat16(double{value}).bits() == bits);
    }
  }
}

TEST_CASE("known values have the upper half of a float's bits") {
  struct Known {
    double value;
    std::uint16_t bits;
  };
  for (const Known& known :
       {Known{0.0, 0x0000}, Known{-0.0, 0x8000}, Known{1.0, 0x3f80}, Known{-2.0, 0xc000},
        Known{0x1.fep127, 0x7f7f}, Known{0x1p-126, 0x0080}, Known{0x1p-133, 0x0001},
        Known{1.0 / 3, 0x3eab}, Known{256.0, 0x4380}}) {
    CAPTURE(known.value);
    CHECK(bits_of(known.value) == known.bits);
    CHECK(bits_of(static_cast<float>(known.value)) == known.bits);
  }
}

TEST_CASE("a value between two neighbours goes to the nearer one, and a tie to the even one") {
  for (std::uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    const double low = float{BFloat16::from_bits(static_cast<std::uint16_t>(bits))};
    const double high = float{BFloat16::from_bits(static_cast<std::uint16_t>(bits + 1))};
    const double middle = (low + high) / 2;
    const std::uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    REQUIRE(bits_of(middle) == even);
    REQUIRE(bits_of(static_cast<float>(middle)) == even);
    // So near that float could not tell: double is not rounded twice.
    REQUIRE(bits_of(std::nextafter(middle, low)) == bits);
    REQUIRE(bits_of(std::nextafter(middle, high)) == bits + 1);
  }
}

TEST_CASE("what is too large becomes infinite, what is too small becomes zero, with its sign") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(bits_of(0x1.feffffp127) == 0x7f7f);
  CHECK(bits_of(0x1.ffp127) == 0x7f80);
  CHECK(bits_of(-1e300) == 0xff80);
  CHECK(bits_of(kInfinity) == 0x7f80);
  CHECK(bits_of(0x1p-134) == 0x0000);
  CHECK(bits_of(0x1.8p-134) == 0x0001);
  CHECK(bits_of(-0x1p-140) == 0x8000);
}

TEST_CASE("a NaN stays one, and becomes quiet") {
  // Of a float; the second would be infinite if its lower half were cut off.
  for (const std::uint32_t bits : {0x7fc00000u, 0x7f800001u, 0x7fffffffu, 0xff800001u}) {
    CAPTURE(bits);
    const std::uint16_t rounded = BFloat16(std::bit_cast<float>(bits)).bits();
    CHECK(std::isnan(float{BFloat16::from_bits(rounded)}));
    CHECK((rounded & 0x40) != 0);
    CHECK((rounded >> 15) == (bits >> 31));
  }
}

}  // namespace
}  // namespace rankbox
