// The page of real runs, with its numbers read back.
#include "viewer/html.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "comm/run_ranks.h"
#include "viewer/html_data.h"

namespace rankbox {
namespace {

using Json = nlohmann::json;

RunReport run(int world_size, const std::function<void(Comm&)>& body, int snapshot_elements = 0) {
  RunOptions options;
  options.world_size = world_size;
  options.snapshot_elements = snapshot_elements;
  RunReport report;
  try {
    run_world(options, body, &report);
  } catch (const DeadlockError&) {
    // The trace goes to where it stopped.
  }
  return report;
}

void everything(Comm& dist) {
  Tensor tensor = full(6, static_cast<float>(dist.rank()));
  Tensor other = zeros(6);
  const int p = dist.world_size();
  const int next = (dist.rank() + 1) % p;
  const int prev = (dist.rank() + p - 1) % p;
  dist.compute(1e-6 * dist.rank());
  dist.sendrecv(tensor, next, other, prev);
  tensor += other;
  const Comm::Request sent = dist.isend(tensor, next);
  const Comm::Request received = dist.irecv(other, prev);
  dist.wait_all({sent, received});
  dist.split(dist.rank() % 2).all_reduce(tensor);
}

std::string page(const Trace& trace, const HtmlOptions& options = {}) {
  std::ostringstream out;
  write_html(out, trace, replay_trace(trace, Cluster{}), options);
  return out.str();
}

/// Returns the text between two others.
std::string inside(const std::string& html, const std::string& before, const std::string& after) {
  const std::size_t at = html.find(before);
  REQUIRE(at != std::string::npos);
  const std::size_t begin = at + before.size();
  return html.substr(begin, html.find(after, begin) - begin);
}

std::string decode_base64(const std::string& text) {
  std::array<int, 256> value{};
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < digits.size(); ++i)
    value[static_cast<unsigned char>(digits[i])] = static_cast<int>(i);
  CHECK(text.size() % 4 == 0);
  std::string bytes;
  for (std::size_t i = 0; i + 3 < text.size(); i += 4) {
    int group = 0;
    for (std::size_t k = 0; k < 4; ++k)
      group = group << 6 | value[static_cast<unsigned char>(text[i + k])];
    const int given = text[i + 2] == '=' ? 1 : text[i + 3] == '=' ? 2 : 3;
    for (int k = 0; k < given; ++k) bytes += static_cast<char>(group >> (16 - 8 * k) & 255);
  }
  return bytes;
}

/// A parsed page.
struct ReadBack {
  explicit ReadBack(const std::string& html)
      : head(Json::parse(inside(html, "id=\"head\">", "</script>"))),
        bytes(decode_base64(inside(html, "id=\"columns\" hidden value=\"", "\""))) {}

  template <class T>
  std::vector<double> as(const Json& column) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < column["count"]; ++i) {
      T value;
      const std::size_t at = column["at"].get<std::size_t>() + i * sizeof(T);
      REQUIRE(at + sizeof(T) <= bytes.size());
      std::memcpy(&value, bytes.data() + at, sizeof(T));
      values.push_back(static_cast<double>(value));
    }
    return values;
  }

  std::vector<double> column(const std::string& name) const {
    for (const Json& column : head["columns"]) {
      if (column["name"] != name) continue;
      CHECK(column["at"].get<int>() % 8 == 0);
      if (column["type"] == "u8") return as<std::uint8_t>(column);
      if (column["type"] == "u16") return as<std::uint16_t>(column);
      if (column["type"] == "u32") return as<std::uint32_t>(column);
      if (column["type"] == "f32") return as<float>(column);
      if (column["type"] == "f64") return as<double>(column);
    }
    return {};
  }

  Json head;
  std::string bytes;
};

TEST_CASE("every event is in the page, number by number") {
  const Trace trace = run(4, everything).trace;
  const Replay replay = replay_trace(trace, Cluster{});
  const ReadBack read(page(trace));
  const auto what = read.column("what");
  const auto peer = read.column("peer");
  const auto bytes = read.column("bytes");
  const auto memory = read.column("memory");
  const auto flags = read.column("flags");
  const auto group = read.column("group");
  const auto place = read.column("place");
  const auto begin = read.column("virtualBegin");
  const auto end = read.column("virtualEnd");
  const auto wall = read.column("wallEnd");
  std::size_t n = 0;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    CHECK(read.head["starts"][rank] == n);
    for (std::size_t i = 0; i < trace.ranks[rank].size(); ++i, ++n) {
      const Event& event = trace.ranks[rank][i];
      CAPTURE(n);
      CHECK(read.head["names"][static_cast<std::size_t>(what.at(n))] == name_of(event));
      CHECK(peer.at(n) == event.peer + 1);
      CHECK(bytes.at(n) == static_cast<double>(event.bytes));
      CHECK(memory.at(n) == static_cast<double>(event.memory));
      CHECK((static_cast<int>(flags.at(n)) & kDone) != 0);
      CHECK(((static_cast<int>(flags.at(n)) & kAsync) != 0) == event.async);
      CHECK(group.at(n) == event.group);
      CHECK(read.head["places"][static_cast<std::size_t>(place.at(n))][1] == event.place.line());
      CHECK(begin.at(n) == replay.spans[rank][i].begin);
      CHECK(end.at(n) == replay.spans[rank][i].end);
      CHECK(wall.at(n) == static_cast<double>(event.end_ns));
    }
  }
  CHECK(read.head["starts"].back() == n);
  CHECK(what.size() == n);
}

TEST_CASE("what was computed is named by its label, and moves no bytes") {
  const ReadBack read(page(run(1, [](Comm& dist) {
                             dist.compute(1e-6, "F3");
                             dist.compute(1e-6);
                           }).trace));
  CHECK(read.head["names"] == Json{"compute F3", "compute"});
  CHECK(read.column("bytes") == std::vector<double>{0, 0});
}

TEST_CASE("messages link to their other side, and waits to their operation") {
  const ReadBack read(page(run(3, everything).trace));
  const auto link = read.column("link");
  const auto what = read.column("what");
  const auto name = [&](double event) {
    return read.head["names"][static_cast<std::size_t>(what.at(static_cast<std::size_t>(event)))]
        .get<std::string>();
  };
  int waits = 0;
  for (std::size_t i = 0; i < link.size(); ++i) {
    if (name(static_cast<double>(i)) == "send") {
      REQUIRE(link[i] > 0);
      CHECK(name(link[i] - 1) == "recv");
      CHECK(link.at(static_cast<std::size_t>(link[i]) - 1) == static_cast<double>(i) + 1);
    }
    if (name(static_cast<double>(i)) == "wait") {
      ++waits;
      CHECK(link[i] > 0);
    }
  }
  CHECK(waits == 6);
}

TEST_CASE("memory is what a rank held before an event") {
  const Trace trace = run(1, [](Comm& dist) {
                        const Tensor first = zeros(100);
                        dist.compute(1);
                        {
                          const Tensor second = zeros(50);
                          dist.compute(1);
                        }
                        dist.compute(1);
                      }).trace;
  CHECK(ReadBack(page(trace)).column("memory") == std::vector<double>{400, 600, 400});
}

TEST_CASE("snapshots hold the first elements after each event, and cost nothing when off") {
  const auto exchange = [](Comm& dist) {
    Tensor tensor = full(3, static_cast<float>(dist.rank() + 1));
    Tensor other = zeros(3);
    dist.sendrecv(tensor, 1 - dist.rank(), other, 1 - dist.rank());
    tensor += other;
    const Comm::Request sent = dist.isend(tensor, 1 - dist.rank());
    const Comm::Request received = dist.irecv(other, 1 - dist.rank());
    dist.wait_all({sent, received});
  };
  const ReadBack read(page(run(2, exchange, 2).trace));
  const auto events = read.column("snapshotEvent");
  const auto starts = read.column("snapshotStart");
  const auto values = read.column("snapshotValues");
  REQUIRE(starts.size() == events.size() + 1);
  std::vector<std::vector<double>> of_event(7);  // rank 0's
  for (std::size_t i = 0; i < events.size() && events[i] < 7; ++i) {
    of_event[static_cast<std::size_t>(events[i])].assign(
        values.begin() + static_cast<std::ptrdiff_t>(starts[i]),
        values.begin() + static_cast<std::ptrdiff_t>(starts[i + 1]));
  }
  using Values = std::vector<double>;
  CHECK(of_event[0] == Values{1, 1});  // sent
  CHECK(of_event[1] == Values{2, 2});  // received
  CHECK(of_event[2] == Values{3, 3});  // added
  CHECK(of_event[3] == Values{3, 3});  // isend
  CHECK(of_event[4] == Values{});      // irecv: not received yet
  CHECK(of_event[5] == Values{});      // waited for the send
  CHECK(of_event[6] == Values{3, 3});  // waited for what was received

  CHECK(run(2, exchange).trace.snapshots.empty());
}

TEST_CASE("an event that never ended is marked, and begins when its rank arrived") {
  const Trace trace = run(2, [](Comm& dist) {
                        Tensor tensor = zeros(1);
                        dist.compute(1e-6 * (dist.rank() + 1));
                        dist.recv(tensor, 1 - dist.rank());
                      }).trace;
  const ReadBack read(page(trace));
  CHECK(read.column("virtualBegin") == std::vector<double>{0, 1e-6, 0, 2e-6});
  CHECK(read.column("virtualEnd") == std::vector<double>{1e-6, -1, 2e-6, -1});
  const auto flags = read.column("flags");
  CHECK((static_cast<int>(flags[0]) & kDone) != 0);
  CHECK((static_cast<int>(flags[1]) & kDone) == 0);
}

TEST_CASE("no text of the run is interpreted as markup or script") {
  HtmlOptions options;
  options.title = "<b>&\"title\"</b>";
  options.summary = "</p><script>alert(1)</script>";
  options.display_name = [](const std::string&) {
    return std::string("</script><script>x\xff{{columns}}");
  };
  options.source_lines = [](const std::string&) {
    return std::vector<std::string>(400, "<!-- <script> \"'");
  };
  const std::string html = page(run(2, everything).trace, options);
  const ReadBack read(html);
  const Json& named = *std::find_if(read.head["places"].begin(), read.head["places"].end(),
                                    [](const Json& place) { return place[1] != 0; });
  CHECK(named[0].get<std::string>().substr(0, 18) == "</script><script>x");
  CHECK(named[2] == "<!-- <script> \"'");
  CHECK(html.find("<h1>&lt;b&gt;&amp;&quot;title&quot;&lt;/b&gt;</h1>") != std::string::npos);
  CHECK(html.find("alert(1)</script>") == std::string::npos);
  const auto count = [&](const char* pattern) {
    const std::regex regex(pattern);
    return std::distance(std::sregex_iterator(html.begin(), html.end(), regex),
                         std::sregex_iterator());
  };
  CHECK(count("<script") == 2);  // head, and the page's own
  CHECK(count("</script>") == 2);
}

TEST_CASE("the page is complete, and loads nothing from outside") {
  const std::string html = page(run(2, everything).trace);
  CHECK(html.starts_with("<!DOCTYPE html>"));
  CHECK(html.ends_with("</html>\n"));
  CHECK(html.find("{{") == std::string::npos);
  CHECK(html.find("default-src 'none'") != std::string::npos);
  for (const char* outside : {"http://", "https://", "src=", "url(", "@import", "fetch("}) {
    CAPTURE(outside);
    CHECK(html.find(outside) == std::string::npos);
  }
}

TEST_CASE("a run without events is a page too") {
  Trace trace;
  trace.ranks.resize(2);
  trace.nodes = {0, 0};
  trace.groups = {{0, 1}};
  std::ostringstream out;
  write_html(out, trace, Replay{.spans = {{}, {}}, .clocks = {0, 0}});
  CHECK(ReadBack(out.str()).head["starts"] == Json{0, 0, 0});
}

}  // namespace
}  // namespace rankbox
