#include "comm/flight_recorder.h"

#include <atomic>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "comm/result_bytes.h"

namespace rankbox {
namespace {

Flight send_to(int peer, std::uint64_t number, std::int64_t count = 4) {
  return {.op = "send",
          .place = Place::current(),
          .call = {.kind = FlightKind::kSend, .peer = peer, .count = count, .number = number}};
}

TEST_CASE("the ring keeps the last operations and counts all of them") {
  for (const int operations : {0, 1, FlightRecorder::kSize, 3 * FlightRecorder::kSize + 1}) {
    CAPTURE(operations);
    FlightRecorder recorder(2);
    for (int i = 0; i < operations; ++i) {
      const std::uint64_t index = recorder.begin(send_to(1, static_cast<std::uint64_t>(i)));
      CHECK(index == static_cast<std::uint64_t>(i));
      if (i % 4 == 0) recorder.set_state(index, FlightState::kDone);
      if (i % 4 == 2) recorder.set_done_alone(index);
    }
    const FlightLog log = recorder.log();
    CHECK(log.rank == 2);
    CHECK(log.recorded == static_cast<std::uint64_t>(operations));
    CHECK(recorder.done() == static_cast<std::uint64_t>((operations + 1) / 2));
    REQUIRE(static_cast<int>(log.flights.size()) == std::min(operations, FlightRecorder::kSize));
    for (std::size_t i = 0; i < log.flights.size(); ++i) {
      const std::uint64_t index = log.recorded - log.flights.size() + i;
      CHECK(log.flights[i].index == index);
      CHECK(log.flights[i].call.number == index);
      CHECK(log.flights[i].state == (index % 2 == 0 ? FlightState::kDone : FlightState::kStarted));
    }
  }
}

TEST_CASE("a state changes until the operation is over, and only while the ring knows it") {
  FlightRecorder recorder(0);
  const std::uint64_t index = recorder.begin(send_to(1, 0));
  CHECK(recorder.state(index) == FlightState::kStarted);
  recorder.set_state(index, FlightState::kEnqueued);
  CHECK(recorder.state(index) == FlightState::kEnqueued);
  recorder.set_state(index, FlightState::kFailed);
  recorder.set_state(index, FlightState::kDone);
  recorder.set_done_alone(index);
  CHECK(recorder.state(index) == FlightState::kFailed);
  CHECK(recorder.done() == 0);

  for (int i = 0; i < FlightRecorder::kSize; ++i) recorder.begin(send_to(1, 1));
  recorder.set_state(index, FlightState::kDone);  // its slot is another operation's now
  recorder.set_done_alone(index);
  CHECK(recorder.state(index + FlightRecorder::kSize) == FlightState::kStarted);

  recorder.set_state(FlightRecorder::kNotNoted, FlightState::kFailed);
  recorder.set_done_alone(FlightRecorder::kNotNoted);
  CHECK(recorder.state(FlightRecorder::kNotNoted) == FlightState::kDone);
  for (const LoggedFlight& flight : recorder.log().flights)
    CHECK(flight.state == FlightState::kStarted);
}

TEST_CASE("a log is the same after it has travelled as bytes") {
  FlightRecorder recorder(3);
  const Flight flight = send_to(1, 5, 1 << 20);
  recorder.add_group(7, {3, 1}, flight.place);
  recorder.set_state(recorder.begin(flight), FlightState::kDone);
  recorder.set_returned();
  const FlightLog log = from_bytes<FlightLog>(to_bytes(recorder.log()));
  CHECK(log.rank == 3);
  CHECK(log.returned);
  REQUIRE(log.groups.size() == 1);
  CHECK(log.groups[0].id == 7);
  CHECK(log.groups[0].members == std::vector{3, 1});
  CHECK(log.groups[0].file == flight.place.file_name());
  CHECK(log.groups[0].line == static_cast<int>(flight.place.line()));
  REQUIRE(log.flights.size() == 1);
  const LoggedFlight& read = log.flights[0];
  CHECK(read.op == "send");
  CHECK(read.file == flight.place.file_name());
  CHECK(read.line == static_cast<int>(flight.place.line()));
  CHECK(read.state == FlightState::kDone);
  CHECK(read.call.peer == 1);
  CHECK(read.call.number == 5);
  CHECK(read.call.count == 1 << 20);
}

TEST_CASE("a log that is read meanwhile holds no torn entry") {
  FlightRecorder recorder(0);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) {
      for (const LoggedFlight& flight : recorder.log().flights) {
        // Not doctest's macros: they would take turns with the writer.
        if (flight.call.number != flight.index ||
            flight.call.count != static_cast<std::int64_t>(flight.index) || flight.op != "send")
          stop = true;
      }
    }
  });
  for (std::uint64_t i = 0; i < 20000 && !stop; ++i)
    recorder.set_done_alone(recorder.begin(send_to(1, i, static_cast<std::int64_t>(i))));
  CHECK_FALSE(stop.exchange(true));
  reader.join();
}

TEST_CASE("an operation is one line: rank, number, partner, size, place, state") {
  LoggedFlight flight{.index = 17,
                      .op = "send",
                      .file = "exercises/ring.cc",
                      .line = 22,
                      .seconds = 30,
                      .call = {.kind = FlightKind::kSend, .peer = 3, .count = 1 << 20}};
  CHECK(in_words(flight, 2) ==
        "rank 2  #17 send to 3  4 MiB float32  ring.cc:22  not finished after 30.0 s");
  flight.op = "all_reduce";
  flight.call.kind = FlightKind::kCollective;
  flight.state = FlightState::kDone;
  CHECK(in_words(flight, 2) == "rank 2  #17 all_reduce  4 MiB float32  ring.cc:22  finished");
  flight.op = "wait";
  flight.call = {.kind = FlightKind::kRecv, .waits = true, .peer = 1, .count = 3};
  CHECK(in_words(flight, 0) ==
        "rank 0  #17 wait for a receive from 1  12 bytes float32  ring.cc:22  finished");
}

TEST_CASE("a log in words shows the last operations and the first open one") {
  FlightRecorder recorder(1);
  CHECK(in_words(recorder.log(), 2) == "rank 1  no operation yet\n");
  FlightRecorder idle(3);
  idle.set_returned();
  CHECK(in_words(idle.log(), 2) == "rank 3  returned without an operation\n");
  for (std::uint64_t i = 0; i < 6; ++i) {
    const std::uint64_t index = recorder.begin(send_to(0, i));
    if (i != 2) recorder.set_state(index, FlightState::kDone);
  }
  const std::string text = in_words(recorder.log(), 2);
  for (const char* part : {"#2 ", "...", "#4 ", "#5 "}) CHECK(text.find(part) != text.npos);
  for (const char* part : {"#0 ", "#1 ", "#3 "}) CHECK(text.find(part) == text.npos);
}

TEST_CASE("bytes in words") {
  CHECK(bytes_in_words(1) == "1 byte");
  CHECK(bytes_in_words(1023) == "1023 bytes");
  CHECK(bytes_in_words(1536) == "1.5 KiB");
  CHECK(bytes_in_words(std::int64_t{4} << 20) == "4 MiB");
  CHECK(bytes_in_words(std::int64_t{1} << 51) == "2048 TiB");
}

}  // namespace
}  // namespace rankbox
