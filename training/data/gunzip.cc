#include "training/data/gunzip.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include <fmt/format.h>
#include <zlib.h>

namespace rankbox {

namespace {

constexpr std::string_view kMagic = "\x1f\x8b";
constexpr int kGzip = 16;  // added to the window's bits: a gzip header is required

/// A stream that is closed with its scope.
class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&stream_, kGzip + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with(kMagic); }

Unpacked gunzip(std::string_view packed, std::uint64_t most) {
  Unpacked result;
  Inflater inflater;
  z_stream& stream = inflater.stream();
  std::array<unsigned char, 1 << 16> block;
  std::size_t at = 0;
  while (result.bytes.size() < most) {
    const std::size_t some =
        std::min<std::size_t>(packed.size() - at, std::numeric_limits<uInt>::max());
    // The interface is older than const.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + at));
    stream.avail_in = static_cast<uInt>(some);
    stream.next_out = block.data();
    const std::uint64_t room = std::min<std::uint64_t>(block.size(), most - result.bytes.size());
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    at += some - stream.avail_in;
    result.bytes.append(reinterpret_cast<const char*>(block.data()), room - stream.avail_out);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_STREAM_END) {
      if (at == packed.size()) return result;
      if (!is_gzip(packed.substr(at))) {
        result.problem =
            fmt::format("{} bytes follow the gzip data, from offset {} on", packed.size() - at, at);
        return result;
      }
      inflateReset(&stream);  // the next member
    } else if (status == Z_BUF_ERROR) {
      result.problem = fmt::format("the gzip data is cut off at offset {}", at);
      return result;
    } else if (status != Z_OK) {
      result.problem = fmt::format("the gzip data is damaged at offset {} ({})", at,
                                   stream.msg == nullptr ? "no reason given" : stream.msg);
      return result;
    }
  }
  result.has_more = true;
  return result;
}

}  // namespace rankbox
