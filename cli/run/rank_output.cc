#include "cli/run/rank_output.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <map>
#include <mutex>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "comm/memory_meter.h"
#include "files/fd.h"

namespace rankbox::cli {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 16;

/// "[rank 2] ", without an allocation; empty for -1.
class Prefix {
 public:
  explicit Prefix(int rank) {
    if (rank < 0) return;
    constexpr std::string_view kBefore = "[rank ";
    char* end = std::copy(kBefore.begin(), kBefore.end(), text_.data());
    end = std::to_chars(end, text_.data() + text_.size(), rank).ptr;
    *end++ = ']';
    *end++ = ' ';
    size_ = static_cast<std::size_t>(end - text_.data());
  }
  std::string_view text() const { return {text_.data(), size_}; }

 private:
  std::array<char, 32> text_;
  std::size_t size_ = 0;
};

/// One of the two outputs, for C and C++. It has no buffers besides the lines under way.
class Stream : public std::streambuf {
 public:
  explicit Stream(int fd) : fd_(fd) {}

  /// @param c the variable that C's functions print to
  void take_over(FILE*& c) {
    std::fflush(c);
    cookie_io_functions_t functions = {};
    functions.write = [](void* self, const char* text, std::size_t bytes) {
      static_cast<Stream*>(self)->add({text, bytes});
      return static_cast<ssize_t>(bytes);
    };
    FILE* const ours = fopencookie(this, "w", functions);
    if (ours == nullptr) return;  // no memory: ranks print as they would anywhere
    std::setvbuf(ours, nullptr, _IONBF, 0);
    c_ = &c;
    before_of_c_ = std::exchange(c, ours);
  }
  void take_over(std::ostream& cpp) {
    cpp.flush();
    before_of_cpp_[&cpp] = cpp.rdbuf(this);
  }

  void give_back() {
    if (c_ != nullptr) *std::exchange(c_, nullptr) = before_of_c_;
    for (const auto& [cpp, before] : before_of_cpp_) {
      if (cpp->rdbuf() == this) cpp->rdbuf(before);
    }
    before_of_cpp_.clear();
    const std::lock_guard guard(lock_);
    write_unfinished();
  }

  void write_unfinished_if_free() {
    const std::unique_lock guard(lock_, std::try_to_lock);
    if (guard) write_unfinished();
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
    const Prefix prefix(rank);
    std::string ended;
    const std::lock_guard guard(lock_);
    std::string& line = lines_[rank];
    while (!text.empty()) {
      const std::size_t end = text.find_first_of("\n\r");
      const std::size_t taken = end == std::string_view::npos ? text.size() : end + 1;
      line += text.substr(0, taken);
      text.remove_prefix(taken);
      if (end == std::string_view::npos && line.size() < kLongestLine) break;
      ended += prefix.text();
      ended += line;
      line.clear();
    }
    write_all(fd_, ended);
  }

  /// Allocates nothing. REQUIRES: lock_ is held.
  void write_unfinished() {
    for (auto& [rank, line] : lines_) {
      if (line.empty()) continue;
      write_all(fd_, Prefix(rank).text());
      write_all(fd_, line);
      write_all(fd_, "\n");
      line.clear();
    }
  }

  const int fd_;
  FILE** c_ = nullptr;  // null: not taken over
  FILE* before_of_c_ = nullptr;
  std::map<std::ostream*, std::streambuf*> before_of_cpp_;
  // A signal handler tries it, which the annotated Mutex cannot.
  std::mutex lock_;
  std::map<int, std::string> lines_;  // under lock_; by rank: those that have not ended
};

// Never freed: threads may print until the process ends.
Stream& out() {
  static Stream& stream = *new Stream(STDOUT_FILENO);
  return stream;
}
Stream& error() {
  static Stream& stream = *new Stream(STDERR_FILENO);
  return stream;
}

}  // namespace

void begin_rank_output() {
  // Later calls of it, which rebuild the streams of C++, then do nothing.
  std::ios::sync_with_stdio(false);
  out().take_over(stdout);
  out().take_over(std::cout);
  error().take_over(stderr);
  error().take_over(std::cerr);
  error().take_over(std::clog);
}

void end_rank_output() {
  out().give_back();
  error().give_back();
}

void write_unfinished_lines() {
  out().write_unfinished_if_free();
  error().write_unfinished_if_free();
}

}  // namespace rankbox::cli
