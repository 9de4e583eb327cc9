// The elements of slices as bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "comm/result_bytes.h"
#include "comm/slice.h"

namespace rankbox::seal {

/// A null slice has no elements.
inline void put_slice(ByteWriter& writer, Slice slice) {
  writer.put(slice.dtype());
  writer.put(std::string_view(slice.bytes() == 0 ? "" : static_cast<const char*>(slice.data()),
                              static_cast<std::size_t>(slice.bytes())));
}

/// Reads into a slice of the same size. Throws std::runtime_error for another size.
inline void get_slice(ByteReader& reader, Slice into) {
  reader.next<DType>();
  const std::string_view bytes = reader.next_text();
  if (static_cast<std::int64_t>(bytes.size()) != into.bytes())
    throw std::runtime_error("a slice of another size");
  if (!bytes.empty()) std::memcpy(into.data(), bytes.data(), bytes.size());
}

}  // namespace rankbox::seal
