// Reports from a measuring process to the one that started it: frames through a named pipe.
//
// Standard output cannot serve for that: the learner's code prints there, and a launcher mixes the
// output of its processes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "cli/compare/measure/devices.h"
#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

struct Frame {
  enum class Kind : std::uint8_t {
    kStart,      // devices, lines: the backend's description
    kJob,        // rows: those of the contest, number: which of them
    kLeft,       // all ranks have returned from a learner's job
    kContest,    // rows, measured
    kNote,       // text: what could not be measured, though all else was
    kRowFailed,  // rows: a learner's, whose failure ends the processes
    kFailed,     // text: a failure that is not a learner's; number: the exit code
    kDone,       // all is measured; without it, a learner's code ended them
  };
  Kind kind = Kind::kStart;
  std::uint64_t number = 0;
  std::string text = {};
  std::vector<std::string> lines = {};
  std::vector<Row> rows = {};
  std::vector<Device> devices = {};
};

inline auto fields_of(Frame& frame) {
  return std::tie(frame.kind, frame.number, frame.text, frame.lines, frame.rows, frame.devices);
}

/// The writing end. Thread safety: used by one thread at a time.
class FrameWriter {
 public:
  /// Opens the pipe. Throws Error if it cannot.
  explicit FrameWriter(const std::string& path);
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;
  ~FrameWriter();

  /// Blocks until it is written. Throws Error if there is no reader any more.
  void write(const Frame& frame);

 private:
  int fd_;
};

/// The reading end, which makes the pipe.
class FrameReader {
 public:
  explicit FrameReader(const std::string& path);
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;
  ~FrameReader();

  /// Calls `take` for every frame that is there. Does not block.
  void drain(const std::function<void(const Frame&)>& take);

 private:
  int fd_;
  std::string bytes_;  // of a frame that is not complete yet
};

}  // namespace rankbox::cli
