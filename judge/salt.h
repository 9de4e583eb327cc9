// The salt: a number that varies the judge's inputs and cases.
//
// A program that knows the judge's numbers need not compute them. So grading draws a salt, and
// values, counts, roots, segments, rates and world sizes follow from it: the same ones for the same
// salt on every machine. Salt 0 stands for the fixed inputs and cases of `./rankbox check`.
//
//   const float rate = static_cast<float>(drawn("learning rate", 10, 2, 50)) / 1000;
//   Random random(11 ^ salt());              // with salt 0 the numbers of Random(11)
//
// Thread safety: any thread may read the salt. REQUIRES: it is set while no subject runs.
#pragma once

#include <cstdint>
#include <string_view>

#include "training/random.h"

namespace rankbox {

/// The largest salt: a number that JSON's readers hold exactly, and too large to be guessed by a
/// program that sees its own inputs.
inline constexpr std::int64_t kLargestSalt = (std::int64_t{1} << 53) - 1;

std::uint64_t salt();
void set_salt(std::uint64_t salt);

/// Returns an unpredictable salt from 1 to kLargestSalt.
std::uint64_t random_salt();

/// Returns random numbers of this salt, others for each use.
Random salted(std::string_view use);

/// Returns `fixed` if the salt is 0, otherwise a number in [least, most] that depends on salt and
/// use. REQUIRES: least <= most.
std::int64_t drawn(std::string_view use, std::int64_t fixed, std::int64_t least, std::int64_t most);

}  // namespace rankbox
