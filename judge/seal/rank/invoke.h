// Calls the learner's function with arguments that the referee sent.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "judge/seal/rank/checkpoint.h"
#include "judge/seal/rank/objects.h"
#include "judge/seal/rank/request.h"

namespace rankbox::seal {

template <class Function>
struct Invoke;

template <class... P>
struct Invoke<void(P...)> {
  /// Returns the state after the call. Throws what the function throws.
  /// @param message what `reader` reads; freed before the function runs, for it is not the
  ///     function's memory
  static std::string call(void (*function)(), ByteReader& reader, std::string& message) {
    Invocation invocation;
    set_call(&invocation);
    // Braces: evaluated from left to right. Not moved: the state points to them.
    const std::tuple<std::unique_ptr<Made<P>>...> arguments{
        std::make_unique<Made<P>>(invocation, reader)...};
    invocation.state.get(reader);
    std::string().swap(message);
    std::apply(
        [&](const auto&... made) { reinterpret_cast<void (*)(P...)>(function)(made->get()...); },
        arguments);
    count_memory();
    ByteWriter writer;
    invocation.state.put(writer);
    return std::move(writer.bytes);
  }
};

}  // namespace rankbox::seal
