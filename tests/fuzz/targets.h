// Readers of bytes that a learner's process wrote, for a fuzzer.
//
// Each function takes any bytes. It must return: a crash, a leak or a hang is a finding.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankbox::fuzz {

/// Verdicts, stop reports, errors of another process, a compiler's output, texts for a terminal.
/// The first byte selects the reader.
void read_text(const std::uint8_t* data, std::size_t size);

/// What two rank processes send to the referee in one call of a learner's function. The first byte
/// selects the exercise. A message is a byte with its rank and whether it has a well-formed front
/// (place and communicator), a byte with its kind, a byte with its length, and that many bytes.
void talk_to_referee(const std::uint8_t* data, std::size_t size);

}  // namespace rankbox::fuzz
