#include "launch/connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "launch/wire.h"

namespace rankbox::launcher {

namespace {

constexpr std::string_view kGreeting("RANKBOX\n", 8);
constexpr std::size_t kHeader = 5;                         // length and type
constexpr std::size_t kMostAtOnce = std::size_t{4} << 20;  // then it is others' turn

void set(int socket, int level, int option, int value) {
  // A socket that is no TCP (a pair within rank 0) needs none of these.
  setsockopt(socket, level, option, &value, sizeof(value));
}

void notice_silence(int socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);  // messages are short and waited for
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 4);          // s without a word until the kernel asks,
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 2);         // s between questions,
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);           // questions that may stay unanswered
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 10000);  // ms that what we sent may stay unconfirmed
}

bool is_silence(int error) {
  return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH || error == ENETDOWN;
}

}  // namespace

Bytes bytes_of(MessageType type, std::string_view content) {
  WireWriter writer(kHeader + content.size());
  writer.u32(static_cast<std::uint32_t>(content.size()));
  const char letter = static_cast<char>(type);
  writer.raw(std::string_view(&letter, 1)).raw(content);
  return std::make_shared<const std::string>(writer.take());
}

Connection::Connection(Fd socket, std::size_t most_content)
    : socket_(std::move(socket)), most_content_(most_content) {
  fcntl(fd(), F_SETFL, fcntl(fd(), F_GETFL) | O_NONBLOCK);
  notice_silence(fd());
  send(std::make_shared<const std::string>(kGreeting));
}

void Connection::send(Bytes message) {
  queue_.push_back(std::move(message));
  flush();
}

void Connection::flush() {
  while (wants_to_write()) {
    const std::string& first = *queue_.front();
    const ssize_t sent = ::send(fd(), first.data() + sent_of_first_, first.size() - sent_of_first_,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      // That the other side has gone is for read() to find: what it said before counts.
      cannot_write_ = errno != EAGAIN && errno != EWOULDBLOCK;
      return;
    }
    sent_of_first_ += static_cast<std::size_t>(sent);
    if (sent_of_first_ == first.size()) {
      queue_.pop_front();
      sent_of_first_ = 0;
    }
  }
}

bool Connection::read() {
  if (!end_.empty()) return false;
  std::array<char, 65536> buffer;
  for (std::size_t total = 0; total < kMostAtOnce;) {
    const ssize_t got = recv(fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
      total += static_cast<std::size_t>(got);
      read_.append(buffer.data(), static_cast<std::size_t>(got));
      check_greeting();
      if (stranger_) return false;
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    silent_ = got < 0 && is_silence(errno);
    end_ = got == 0 ? "closed" : std::strerror(errno);
    return false;
  }
  return true;
}

void Connection::check_greeting() {
  if (greeted_) return;
  const std::size_t size = std::min(read_.size(), kGreeting.size());
  if (read_.compare(0, size, kGreeting, 0, size) != 0) {
    refuse("it does not speak Rankbox's protocol");
  } else if (size == kGreeting.size()) {
    greeted_ = true;
    taken_ = size;
  }
}

void Connection::refuse(const std::string& reason) {
  stranger_ = true;
  end_ = reason;
}

std::optional<Message> Connection::next() {
  if (!greeted_ || stranger_ || read_.size() - taken_ < kHeader) return std::nullopt;
  const std::string_view left = std::string_view(read_).substr(taken_);
  const std::size_t size = WireReader(left.substr(0, 4)).u32();
  if (size > most_content_) {
    refuse(
        fmt::format("it announced a message of {} bytes, and {} are allowed", size, most_content_));
    return std::nullopt;
  }
  if (left.size() < kHeader + size) {
    read_.reserve(taken_ + kHeader + size);  // rather than to grow step by step, copying
    return std::nullopt;
  }
  Message message = {static_cast<MessageType>(left[4]), std::string(left.substr(kHeader, size))};
  taken_ += kHeader + size;
  if (taken_ == read_.size()) {
    read_.clear();
    taken_ = 0;
  } else if (taken_ > kMostAtOnce) {
    read_.erase(0, taken_);
    taken_ = 0;
  }
  return message;
}

std::string Connection::end_in_words() const {
  return fmt::format("{} ({})",
                     silent_ ? "went silent: is its machine or the network down?"
                             : "ended without a word: it was killed, crashed or gave up",
                     end_);
}

void Connection::end_writing() {
  if (!wants_to_write()) shutdown(fd(), SHUT_WR);
}

}  // namespace rankbox::launcher
