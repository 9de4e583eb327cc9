// The state of a call's arguments that both processes have: tensors that a function may change.
//
// It travels whole, in the order in which the arguments were added: with the call, with every
// request that uses the referee's objects, with the replies to those, and with the return.
#pragma once

#include <functional>
#include <vector>

#include "comm/result_bytes.h"

namespace rankbox::seal {

class State {
 public:
  void add(std::function<void(ByteWriter&)> put, std::function<void(ByteReader&)> get) {
    parts_.push_back({std::move(put), std::move(get)});
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
