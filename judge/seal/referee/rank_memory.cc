#include "judge/seal/referee/rank_memory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm/errors.h"
#include "files/fd.h"
#include "judge/seal/referee/referee.h"
#include "judge/seal/wire.h"

namespace rankbox::seal {

namespace {

struct Process {
  Fd pages;  // /proc/PID/statm: it stays with this process, even if its number is used again
  std::int64_t at_start = 0;
};

std::vector<Process>& processes() {
  static std::vector<Process> all;
  return all;
}

bool are_counted = false;

/// Returns the process that sent the message which waits at the socket.
pid_t sender_of_next(int socket) {
  char byte = 0;
  iovec data = {&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = -1;
  do {
    got = recvmsg(socket, &message, MSG_PEEK);
  } while (got < 0 && errno == EINTR);
  constexpr int kNo = 0;
  setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &kNo, sizeof(kNo));
  if (got <= 0) throw ConnectionLost("the other process has ended");
  const cmsghdr* const head = CMSG_FIRSTHDR(&message);
  ucred sender = {};
  if (head != nullptr && head->cmsg_type == SCM_CREDENTIALS)
    std::memcpy(&sender, CMSG_DATA(head), sizeof(sender));
  return sender.pid;
}

/// Returns the bytes that a process has mapped; 0 if they cannot be read.
std::int64_t bytes_mapped(const Fd& statm) {
  std::array<char, 256> text = {};  // "size resident …" in pages
  if (pread(statm.get(), text.data(), text.size() - 1, 0) <= 0) return 0;
  return std::strtoll(text.data(), nullptr, 10) * sysconf(_SC_PAGESIZE);
}

}  // namespace

void count_memory_of_ranks() { are_counted = true; }

bool counts_memory() { return are_counted; }

void watch_memory(int socket) {
  const std::string path = fmt::format("/proc/{}/statm", sender_of_next(socket));
  Process process{Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC))};
  process.at_start = bytes_mapped(process.pages);
  if (process.at_start == 0) throw Error("cannot read the memory of a rank in " + path);
  processes().push_back(std::move(process));
}

std::int64_t bytes_held_by(int rank, std::int64_t given) {
  const Process& process = processes().at(static_cast<std::size_t>(rank));
  const std::int64_t mapped = bytes_mapped(process.pages);
  return std::max<std::int64_t>(0, mapped - process.at_start - given - kUncountedBytes);
}

}  // namespace rankbox::seal
