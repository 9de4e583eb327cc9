#include "cli/plugin.h"

#include <cstdlib>

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

namespace rankbox::cli {
namespace {

// "/tmp/…/exercise.so: undefined symbol: _ZN7rankbox6helperE…", in words a C++ programmer knows.
std::string load_error() {
  std::string error = dlerror();
  const std::string symbol = error.substr(error.rfind(' ') + 1);
  int status = 0;
  char* readable = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  if (status != 0) return error;
  std::string message = fmt::format("{} is called, but defined nowhere", readable);
  std::free(readable);
  return message;
}

}  // namespace

LoadedFunction load_function(const std::string& library, const std::string& signature) {
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return {nullptr, load_error()};
  using Function = void (*)();
  const auto entry = reinterpret_cast<Function (*)()>(dlsym(opened, "rankbox_exercise"));
  if (entry == nullptr) return {nullptr, dlerror()};

  // A missing function is found all the same: the solution of that name, in this program.
  const Function function = entry();
  Dl_info of_entry = {};
  Dl_info of_function = {};
  dladdr(reinterpret_cast<void*>(entry), &of_entry);
  dladdr(reinterpret_cast<void*>(function), &of_function);
  if (of_entry.dli_fbase != of_function.dli_fbase) {
    return {nullptr, fmt::format("there is no function {}: is it in namespace rankbox, with "
                                 "just these parameters?",
                                 signature)};
  }
  return {function, "", reinterpret_cast<const void*>(entry)};
}

}  // namespace rankbox::cli
