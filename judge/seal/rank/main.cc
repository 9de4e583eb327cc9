// The program that runs a learner's function in a process for each rank. The referee starts it in a
// container; see cli/exercise/rank_processes.h.
//
//   rankbox-rank FAMILY SOCKET,… LIBRARY [HELPER]…
//
// SOCKETs are the descriptors of ranks 0, 1, …. Each process keeps its own, and serves calls until
// the referee closes it. HELPERs are libraries with other exercises' solutions that the
// function may call.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/error_bytes.h"
#include "comm/errors.h"
#include "comm/tensor.h"
#include "compute/matrix.h"
#include "judge/seal/rank/comm.h"
#include "judge/seal/rank/filter.h"
#include "judge/seal/rank/invoke.h"
#include "judge/seal/rank/request.h"
#include "judge/seal/rank/stops.h"
#include "judge/seal/signatures.h"

namespace rankbox::seal {

namespace {

using Function = void (*)();
using Invoker = std::string (*)(Function function, ByteReader& reader, std::string& message);

struct Program {
  std::string family;
  std::vector<int> sockets;
  std::string library;
  std::vector<std::string> helpers;
};

/// Returns what dlerror() says; a missing function by its name in C++.
std::string load_error() {
  std::string error = dlerror();
  int status = 0;
  char* const name =
      abi::__cxa_demangle(error.substr(error.rfind(' ') + 1).c_str(), nullptr, nullptr, &status);
  if (status == 0) {
    error = fmt::format(
        "{} is called, and is not there: of other exercises' functions, those can be called that "
        "this one lists (calls, in the registry)",
        std::string_view(name).substr(0, std::string_view(name).find('(')));
  }
  std::free(name);
  return error;
}

Function load_function(const Program& program) {
  for (const std::string& helper : program.helpers) {
    if (dlopen(helper.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) throw Error(dlerror());
  }
  void* const opened = dlopen(program.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) throw Error(load_error());
  void* const entry = dlsym(opened, "rankbox_exercise");
  if (entry == nullptr) throw Error(dlerror());
  set_function(entry);
  return reinterpret_cast<Function (*)()>(entry)();
}

void tell_where_thrown() {
  ByteWriter line;
  line.bytes = line_of_throw();
  if (!line.bytes.empty()) notify(Kind::kStopped, line);
}

std::string bytes_without_memory() {
  const OutOfMemory error("this rank's share of the memory is used up");
  return error_to_bytes(std::make_exception_ptr(error));
}

/// Returns the bytes of the current exception. Its text may exceed the memory or a message's size.
std::string bytes_of_error() {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {  // error_to_bytes would keep only its name
      return bytes_without_memory();
    } catch (...) {
      std::string bytes = error_to_bytes(std::current_exception());
      if (bytes.size() > kMostBytes) throw Error("the message of its error is longer than 64 MiB");
      return bytes;
    }
  } catch (const std::bad_alloc&) {
    return bytes_without_memory();
  } catch (const Error& error) {
    return error_to_bytes(std::make_exception_ptr(error));
  }
}

/// Carries out one call, and reports to the referee how it ended.
void carry_out(Invoker invoke, Function function) {
  static std::uint64_t current_case = 0;
  std::string bytes = next_call();
  std::pair<Kind, std::string> end;
  try {
    ByteReader reader(bytes);
    const auto owner = reader.next<std::uint64_t>();
    const int node = reader.next<int>();
    const int local_rank = reader.next<int>();
    set_counts_memory(reader.next<std::uint8_t>() != 0);
    if (owner != std::exchange(current_case, owner)) {
      saveds().clear();
      begin_case(owner, node, local_rank);
    }
    end = {Kind::kReturned, invoke(function, reader, bytes)};
    if (end.second.size() > kMostBytes) throw Error("its arguments have grown beyond 64 MiB");
  } catch (...) {
    end = {Kind::kThrew, bytes_of_error()};
  }
  if (end.first == Kind::kThrew) tell_where_thrown();
  finish(end.first, end.second);
}

/// OpenBLAS maps 128 MiB for the first large product: no memory of the learner's function.
void map_memory_of_products() {
  constexpr std::int64_t kWidth = 160;
  Tensor a = zeros({kWidth, kWidth}), b = empty_like(a);
  multiply(as_matrix(a, kWidth), as_matrix(a, kWidth), as_matrix(b, kWidth));
}

[[noreturn]] void run_rank(const Program& program, int socket) {
  for (const int other : program.sockets) {
    if (other != socket) close(other);
  }
  set_socket(socket);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // nothing is flushed when the referee ends it
  report_stops_to(socket);
  const auto invoke = reinterpret_cast<Invoker>(find_entry<Invoke>(program.family));
  try {
    if (invoke == nullptr) throw Error("no family " + program.family);
    map_memory_of_products();
    forbid_system_calls();
  } catch (...) {
    _exit(EXIT_FAILURE);  // without a greeting: not the function's failure
  }
  request(Kind::kReply, {});  // ready; the referee looks at this process before it loads anything
  Function function = nullptr;
  std::string error;
  try {
    function = load_function(program);
  } catch (...) {
    error = error_to_bytes(std::current_exception());
  }
  try {
    for (;;) {
      if (error.empty()) {
        carry_out(invoke, function);
      } else {
        next_call();
        finish(Kind::kThrew, error);
      }
    }
  } catch (...) {  // its failure cannot be reported
    _exit(EXIT_FAILURE);
  }
}

int run(const Program& program) {
  for (const int socket : program.sockets) {
    const pid_t child = fork();
    if (child < 0) return EXIT_FAILURE;
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      run_rank(program, socket);
    }
  }
  for (const int socket : program.sockets) close(socket);
  while (wait(nullptr) > 0) {
  }
  return EXIT_SUCCESS;
}

std::vector<int> numbers_in(const std::string& list) {
  std::vector<int> numbers;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) numbers.push_back(std::stoi(word));
  return numbers;
}

}  // namespace

}  // namespace rankbox::seal

int main(int count, char** words) {
  if (count < 4) {
    fmt::print(stderr, "usage: rankbox-rank FAMILY SOCKET,... LIBRARY [HELPER]...\n");
    return EXIT_FAILURE;
  }
  return rankbox::seal::run({words[1], rankbox::seal::numbers_in(words[2]), words[3],
                             std::vector<std::string>(words + 4, words + count)});
}
