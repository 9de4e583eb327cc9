#include "cli/plugin/plugin.h"

#include <cstdlib>

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox::cli {
namespace {

// Returns "/tmp/…/exercise.so: undefined symbol: _ZN7rankbox6helperE…", with demangled C++ names.
std::string load_error(const std::string& signature) {
  std::string error = dlerror();
  const std::string symbol = error.substr(error.rfind(' ') + 1);
  int status = 0;
  char* demangled = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  if (status != 0) return error;
  const std::string readable = demangled;
  std::free(demangled);
  // "void rankbox::rank_main(Comm& dist)" without its type and parameters.
  const std::size_t name = signature.find(' ') + 1;
  const std::size_t end = signature.find('(') + 1;
  if (readable.starts_with(signature.substr(name, end - name))) return no_function(signature);
  return fmt::format("{} is called, but {}", readable, kDefinedNowhere);
}

}  // namespace

std::string no_function(const std::string& signature) {
  return fmt::format(
      "there is no function {}: is it in namespace rankbox, with just these parameters?",
      signature);
}

LoadedFunction load_function(const std::string& library, const std::string& signature) {
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return {nullptr, load_error(signature)};
  using Function = void (*)();
  const auto entry = reinterpret_cast<Function (*)()>(dlsym(opened, "rankbox_exercise"));
  if (entry == nullptr) return {nullptr, dlerror()};

  // A missing function resolves to this program's solution of the same name.
  const Function function = entry();
  Dl_info of_entry = {};
  Dl_info of_function = {};
  dladdr(reinterpret_cast<void*>(entry), &of_entry);
  dladdr(reinterpret_cast<void*>(function), &of_function);
  if (of_entry.dli_fbase != of_function.dli_fbase) {
    return {nullptr, no_function(signature)};
  }
  return {function, "", reinterpret_cast<const void*>(entry)};
}

LearnersFunction load_solution(const std::string& library, const std::string& signature) {
  if (library.empty()) return nullptr;
  const LoadedFunction loaded = load_function(library, signature);
  if (loaded.function == nullptr) throw Error("cannot load the solution: " + loaded.problem);
  return loaded.function;
}

}  // namespace rankbox::cli
