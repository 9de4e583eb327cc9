#include "mpi/farewell.h"

#include <algorithm>

#include <fmt/format.h>

namespace rankbox::mpi {
namespace {

template <std::size_t size>
void store(std::array<char, size>& into, const std::string& text) {
  into.fill('\0');
  std::copy_n(text.begin(), std::min(text.size(), size - 1), into.begin());
}

}  // namespace

void Farewell::set_wait(const Wait& wait, const std::string& in_words) {
  store(op, wait.op);
  store(file, wait.file);
  store(words, in_words);
  line = wait.line;
  peer = wait.peers.empty() ? -1 : wait.peers.front();
  bytes = wait.bytes;
}

Wait Farewell::wait(int rank) const {
  Wait told;
  told.rank = rank;
  told.op = op.data();
  if (peer >= 0) told.peers.push_back(peer);
  told.bytes = bytes;
  told.file = file.data();
  told.line = line;
  return told;
}

std::string in_words(const std::vector<Farewell>& farewells) {
  std::string lines;
  for (std::size_t rank = 0; rank < farewells.size(); ++rank) {
    const Farewell& each = farewells[rank];
    if (each.op[0] == '\0') continue;
    lines += fmt::format("\n  rank {} waits in {}{} ({} bytes) at {}:{}", rank, each.op.data(),
                         each.peer < 0 ? "" : fmt::format(" for rank {}", each.peer), each.bytes,
                         each.file.data(), each.line);
  }
  return lines;
}

}  // namespace rankbox::mpi
