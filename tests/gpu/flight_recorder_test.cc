#include "gpu/nccl/flight_recorder.h"

#include <atomic>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "tests/gpu/emulation/cuda_control.h"

namespace rankbox::gpu {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A stream that can be held up.
struct Held {
  cudaStream_t stream = nullptr;
  std::atomic<bool> held{true};

  Held() {
    cudaSetDevice(0);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  }
  ~Held() {
    let_go();
    cudaStreamDestroy(stream);
  }
  void hold() {
    emulation::enqueue(stream, [this] {
      while (held.load() && !emulation::exiting()) std::this_thread::yield();
    });
  }
  void let_go() {
    held = false;
    cudaStreamSynchronize(stream);
  }
};

Place here(Place place = Place::current()) { return place; }

TEST_CASE("a line names rank, number, operation, peers, size, place and state") {
  Held held;
  FlightRecorder recorder(2);
  CHECK(recorder.to_text() == "rank 2  no operation yet\n");
  const Place place = here();
  const auto first = recorder.begin({.op = "sendrecv",
                                     .to = 3,
                                     .from = 1,
                                     .bytes = 4 << 20,
                                     .dtype = DType::kInt32,
                                     .place = place});
  CHECK(contains(recorder.to_text(), "  not started after "));
  held.hold();
  recorder.enqueued(first, held.stream);
  CHECK(contains(recorder.to_text(),
                 "rank 2  #0 sendrecv to 3, from 1  4 MiB int32  flight_recorder_test.cc:" +
                     std::to_string(place.line()) + "  not finished after "));
  held.let_go();
  CHECK(contains(recorder.to_text(), "  finished\n"));

  recorder.failed(recorder.begin({.op = "broadcast", .root = 0, .bytes = 4}));
  CHECK(contains(recorder.to_text(), "rank 2  #1 broadcast root 0  4 bytes float32  failed\n"));
  recorder.finished(recorder.begin({.op = "barrier"}));
  CHECK(contains(recorder.to_text(), "rank 2  #2 barrier  finished\n"));
}

TEST_CASE("what has finished is counted, in whichever order it does") {
  Held held;
  Held other;
  FlightRecorder recorder(0);
  held.hold();
  recorder.enqueued(recorder.begin({.op = "a"}), held.stream);
  CHECK(recorder.finished_count() == 0);
  recorder.enqueued(recorder.begin({.op = "b"}), other.stream);
  other.let_go();
  CHECK(recorder.finished_count() == 1);
  CHECK(recorder.finished_count() == 1);
  CHECK(recorder.has_unfinished());
  held.let_go();
  CHECK(!recorder.has_unfinished());
  CHECK(recorder.finished_count() == 2);
  recorder.begin({.op = "not on a stream"});
  CHECK(!recorder.has_unfinished());
}

TEST_CASE("the ring forgets the oldest; an old one that hangs is shown before the last ones") {
  Held held;
  FlightRecorder recorder(0);
  held.hold();
  recorder.enqueued(recorder.begin({.op = "stuck"}), held.stream);
  for (int i = 1; i < 10; ++i) recorder.finished(recorder.begin({.op = "quick"}));
  const std::string text = recorder.to_text(3);
  CHECK(contains(text, "#0 stuck  not finished"));
  CHECK(contains(text, "rank 0  ...\n"));
  CHECK(!contains(text, "#6 quick"));
  CHECK(contains(text, "#7 quick"));
  CHECK(contains(text, "#9 quick"));

  for (int i = 10; i < FlightRecorder::kSize; ++i)
    recorder.finished(recorder.begin({.op = "quick"}));
  CHECK(contains(recorder.to_text(3), "#0 stuck"));
  recorder.begin({.op = "last"});
  CHECK(!contains(recorder.to_text(3), "stuck"));
  // Too late: its place belongs to another one.
  recorder.failed(0);
  recorder.enqueued(0, held.stream);
  CHECK(contains(recorder.to_text(1), "#64 last  not started"));
}

TEST_CASE("others may read while the rank writes") {
  Held held;
  held.let_go();
  FlightRecorder recorder(0);
  std::atomic<bool> ends{false};
  std::thread reader([&] {
    while (!ends.load()) {
      if (recorder.to_text(FlightRecorder::kSize).size() > 1000000) break;
    }
  });
  for (int i = 0; i < 500; ++i) recorder.enqueued(recorder.begin({.op = "send"}), held.stream);
  cudaStreamSynchronize(held.stream);
  CHECK(recorder.finished_count() > 0);
  ends = true;
  reader.join();
}

TEST_CASE("bytes in words") {
  CHECK(bytes_in_words(0) == "0 bytes");
  CHECK(bytes_in_words(1) == "1 byte");
  CHECK(bytes_in_words(1023) == "1023 bytes");
  CHECK(bytes_in_words(1536) == "1.5 KiB");
  CHECK(bytes_in_words(4 << 20) == "4 MiB");
  CHECK(bytes_in_words(std::int64_t{5} << 50) == "5120 TiB");
}

TEST_CASE("an operation of which a part is on a stream is not finished with that") {
  Held held;
  FlightRecorder recorder(0);
  const auto number = recorder.begin({.op = "split", .place = here()});
  CHECK_FALSE(recorder.has_unfinished());
  held.hold();
  recorder.enqueued_part(number, held.stream);
  CHECK(recorder.has_unfinished());
  CHECK(contains(recorder.to_text(), "  not finished after "));
  held.let_go();
  CHECK_FALSE(recorder.has_unfinished());
  CHECK(recorder.finished_count() == 0);
  CHECK(contains(recorder.to_text(), "  not started after "));
  recorder.enqueued(number, held.stream);
  cudaStreamSynchronize(held.stream);
  CHECK(recorder.finished_count() == 1);
}

}  // namespace
}  // namespace rankbox::gpu
