// A file descriptor that is closed with its owner, and writing to one.
#pragma once

#include <cerrno>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace rankbox {

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_;
};

/// Writes all bytes. Blocks until done. Returns false on failure, with errno set. Safe in a signal
/// handler.
inline bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno != EINTR) return false;
    if (wrote > 0) bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

}  // namespace rankbox
