#include "judge/seal/referee/referee.h"

#include <cerrno>
#include <system_error>

#include <sys/socket.h>

#include "judge/seal/referee/layer_arguments.h"
#include "judge/seal/referee/link.h"
#include "judge/seal/referee/rank_memory.h"
#include "judge/seal/signatures.h"

namespace rankbox::seal {

AnyFunction sealed_function(std::string_view family) { return find_entry<Stub>(family); }

std::vector<int> connect_ranks(int ranks) {
  std::vector<int> ours;
  std::vector<int> theirs;
  for (int rank = 0; rank < ranks; ++rank) {
    int pair[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      throw std::system_error(errno, std::generic_category(), "socketpair");
    constexpr int kYes = 1;  // for watch_memory
    if (counts_memory() && setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &kYes, sizeof(kYes)) != 0)
      throw std::system_error(errno, std::generic_category(), "SO_PASSCRED");
    ours.push_back(pair[0]);
    theirs.push_back(pair[1]);
  }
  set_sockets(ours);
  return theirs;
}

}  // namespace rankbox::seal
