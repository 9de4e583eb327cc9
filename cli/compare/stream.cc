#include "cli/compare/stream.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comm/errors.h"
#include "comm/result_bytes.h"
#include "files/fd.h"

namespace rankbox::cli {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw Error(fmt::format("{}: {}", path, std::strerror(errno)));
}

}  // namespace

FrameWriter::FrameWriter(const std::string& path) : fd_(open(path.c_str(), O_WRONLY | O_CLOEXEC)) {
  if (fd_ < 0) fail(path);
}

FrameWriter::~FrameWriter() { close(fd_); }

void FrameWriter::write(const Frame& frame) {
  ByteWriter writer;
  writer.put(frame);
  std::string bytes(sizeof(std::uint64_t), '\0');
  const std::uint64_t size = writer.bytes.size();
  std::memcpy(bytes.data(), &size, sizeof(size));
  bytes += writer.bytes;
  if (!write_all(fd_, bytes)) fail("the process that started this one has exited");
}

FrameReader::FrameReader(const std::string& path) : fd_(-1) {
  if (mkfifo(path.c_str(), S_IRUSR | S_IWUSR) != 0) fail(path);
  // Opened for writing too, so that reads return no end of file between writers.
  fd_ = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd_ < 0) fail(path);
}

FrameReader::~FrameReader() { close(fd_); }

void FrameReader::drain(const std::function<void(const Frame&)>& take) {
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t got = read(fd_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    bytes_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  std::size_t used = 0;
  while (bytes_.size() - used >= sizeof(std::uint64_t)) {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes_.data() + used, sizeof(size));
    if (bytes_.size() - used - sizeof(size) < size) break;
    ByteReader reader({bytes_.data() + used + sizeof(size), size});
    take(reader.next<Frame>());
    used += sizeof(size) + size;
  }
  bytes_.erase(0, used);
}

}  // namespace rankbox::cli
