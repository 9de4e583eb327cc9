// The state of a call's arguments that both processes have: tensors that a function may change.
//
// It travels whole, in the order in which the arguments were added: with the call, with an
// optimizer's step and its reply, and with the return. Requests of a layer carry that layer's.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "comm/result_bytes.h"

namespace rankbox::seal {

class State {
 public:
  void add(std::function<void(ByteWriter&)> put, std::function<void(ByteReader&)> get) {
    parts_.push_back({std::move(put), std::move(get)});
  }
  std::size_t size() const { return parts_.size(); }
  /// Returns the parts that were added when there were `begin` already.
  State since(std::size_t begin) const {
    State rest;
    rest.parts_.assign(parts_.begin() + static_cast<std::ptrdiff_t>(begin), parts_.end());
    return rest;
  }
  void put(ByteWriter& writer) const {
    for (const Part& part : parts_) part.put(writer);
  }
  void get(ByteReader& reader) const {
    for (const Part& part : parts_) part.get(reader);
  }

 private:
  struct Part {
    std::function<void(ByteWriter&)> put;
    std::function<void(ByteReader&)> get;
  };
  std::vector<Part> parts_;
};

}  // namespace rankbox::seal
