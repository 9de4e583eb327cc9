#include "cli/run/rank_output.h"

#include <cstdio>
#include <iostream>
#include <map>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "comm/memory_meter.h"
#include "comm/thread_annotations.h"
#include "files/fd.h"

namespace rankbox::cli {

/// One of the two streams, for C and C++. It has no buffers besides the lines under way.
class RankOutput::Stream : public std::streambuf {
 public:
  /// @param c the variable that C's functions print to
  Stream(int fd, FILE*& c, std::ostream& cpp) : fd_(fd), c_(c), cpp_(cpp) {
    std::fflush(c);
    cpp.flush();
    cookie_io_functions_t functions = {};
    functions.write = [](void* self, const char* text, std::size_t bytes) {
      static_cast<Stream*>(self)->add({text, bytes});
      return static_cast<ssize_t>(bytes);
    };
    FILE* const ours = fopencookie(this, "w", functions);
    if (ours == nullptr) return;  // no memory: ranks print as they would anywhere
    std::setvbuf(ours, nullptr, _IONBF, 0);
    before_of_c_ = std::exchange(c, ours);
    before_of_cpp_ = cpp.rdbuf(this);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  ~Stream() override {
    if (before_of_c_ == nullptr) return;
    std::fclose(std::exchange(c_, before_of_c_));
    cpp_.rdbuf(before_of_cpp_);
    const Lock guard(lock_);
    for (auto& [rank, line] : lines_) {
      if (!line.empty()) write_line(rank, line + "\n");
    }
  }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize bytes) override {
    add({text, static_cast<std::size_t>(bytes)});
    return bytes;
  }
  int_type overflow(int_type next) override {
    if (traits_type::eq_int_type(next, traits_type::eof())) return traits_type::not_eof(next);
    const char letter = traits_type::to_char_type(next);
    add({&letter, 1});
    return next;
  }

 private:
  void add(std::string_view text) {
    const int rank = rank_of_this_thread();
    const Lock guard(lock_);
    std::string& line = lines_[rank];
    while (true) {
      const std::size_t end = text.find('\n');
      line += text.substr(0, end == std::string_view::npos ? end : end + 1);
      if (end == std::string_view::npos) return;
      write_line(rank, line);
      line.clear();
      text.remove_prefix(end + 1);
    }
  }

  void write_line(int rank, const std::string& line) REQUIRES(lock_) {
    write_all(fd_, rank < 0 ? line : fmt::format("[rank {}] {}", rank, line));
  }

  const int fd_;
  FILE*& c_;
  std::ostream& cpp_;
  FILE* before_of_c_ = nullptr;
  std::streambuf* before_of_cpp_ = nullptr;
  Mutex lock_;
  std::map<int, std::string> lines_ GUARDED_BY(lock_);  // by rank; under way
};

RankOutput::RankOutput()
    : out_(std::make_unique<Stream>(STDOUT_FILENO, stdout, std::cout)),
      error_(std::make_unique<Stream>(STDERR_FILENO, stderr, std::cerr)) {}

RankOutput::~RankOutput() = default;

}  // namespace rankbox::cli
