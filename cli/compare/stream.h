// Frames from a measuring process to its parent, through a named pipe.
//
// Standard output is unsuitable: the learner's code prints there, and a launcher mixes the output
// of its processes.
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
    kJob,        // rows: those of the contest; number: the index of the job
    kLeft,       // all ranks have returned from a learner's job
    kContest,    // rows, measured
    kNote,       // text: a measurement that failed although the others succeeded
    kRowFailed,  // rows: a learner's, whose failure ends the processes
    kFailed,     // text: any other failure; number: the exit code
    kDone,       // all is measured; without it, a learner's code ended the processes
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
  /// Opens the pipe. Throws Error on failure.
  explicit FrameWriter(const std::string& path);
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;
  ~FrameWriter();

  /// Blocks until the frame is written. Throws Error if the reader is gone.
  void write(const Frame& frame);

 private:
  int fd_;
};

/// The reading end, which creates the pipe.
class FrameReader {
 public:
  explicit FrameReader(const std::string& path);
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;
  ~FrameReader();

  /// Calls `take` for every available frame. Does not block.
  void drain(const std::function<void(const Frame&)>& take);

 private:
  int fd_;
  std::string bytes_;  // of an incomplete frame
};

}  // namespace rankbox::cli
