// Messages over a socket, and what must not be taken for one.
#include "launch/connection.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>

#include "comm/errors.h"
#include "launch/failure.h"
#include "launch/hello.h"
#include "launch/roll_call.h"
#include "launch/wire.h"

namespace rankbox::launcher {
namespace {

struct Pair {
  Fd ours, theirs;
  Pair() {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    ours.reset(ends[0]);
    theirs.reset(ends[1]);
  }
};

void put(const Fd& fd, const std::string& bytes) {
  REQUIRE(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(bytes.size()));
}

TEST_CASE("messages arrive whole and in order, however their bytes are cut") {
  std::string bytes = "RANKBOX\n";
  const std::vector<std::string> contents = {"", "a", std::string(300, 'b'), "c"};
  for (const std::string& content : contents) bytes += *bytes_of(MessageType::kStop, content);
  for (const std::size_t piece : {1, 2, 3, 7, 100, 10000}) {
    CAPTURE(piece);
    Pair pair;
    Connection line(std::move(pair.ours));
    std::vector<std::string> came;
    for (std::size_t i = 0; i < bytes.size(); i += piece) {
      put(pair.theirs, bytes.substr(i, piece));
      CHECK(line.read());
      while (const auto message = line.next()) {
        CHECK(message->type == MessageType::kStop);
        came.push_back(message->content);
      }
    }
    CHECK(came == contents);
  }
}

TEST_CASE("what was sent before the end can still be read, and then why it ended") {
  Pair pair;
  Connection line(std::move(pair.ours));
  put(pair.theirs, "RANKBOX\n" + *bytes_of(MessageType::kGoodbye, "bye"));
  pair.theirs.reset();
  CHECK(!line.read());
  const auto message = line.next();
  REQUIRE(message.has_value());
  CHECK(message->content == "bye");
  CHECK(!line.next());
  CHECK(!line.end().empty());
  CHECK(!line.is_stranger());
}

TEST_CASE("a large message waits for the reader, and neither side blocks") {
  Pair pair;
  Connection writer(std::move(pair.ours));
  Connection reader(std::move(pair.theirs));
  reader.trust();
  const std::string content(std::size_t{10} << 20, 'x');
  writer.send(bytes_of(MessageType::kRelease, content));
  CHECK(writer.wants_to_write());
  std::optional<Message> message;
  for (int i = 0; i < 1'000'000 && !message; ++i) {
    writer.flush();
    reader.read();
    message = reader.next();
  }
  REQUIRE(message.has_value());
  CHECK(message->content == content);
  CHECK(!writer.wants_to_write());
}

TEST_CASE("a stranger is known by its first bytes, or by the size of what it announces") {
  const std::string greeting = "RANKBOX\n";
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1"), std::string("RANKBOY\n"), std::string("x"),
        greeting + WireWriter().u32(kMostOfStranger + 1).take() + "\1",
        greeting + WireWriter().u32(0xffffffff).take() + "\1"}) {
    Pair pair;
    Connection line(std::move(pair.ours));
    put(pair.theirs, bytes);
    line.read();
    CHECK(!line.next());
    CHECK(line.is_stranger());
    CHECK(!line.read());
    CHECK(!line.end().empty());
  }
}

TEST_CASE("what is written comes back, and no shortened message is taken") {
  const Hello hello = {7, 3, 9, "job", "pid 1 on a"};
  const std::string hello_bytes = encode(hello);
  const Hello back = decode_hello(hello_bytes);
  CHECK(back.version == 7);
  CHECK(back.rank == 3);
  CHECK(back.world_size == 9);
  CHECK(back.job == "job");
  CHECK(back.who == "pid 1 on a");
  for (std::size_t size = 0; size < hello_bytes.size(); ++size) {
    CHECK_THROWS_AS(decode_hello(std::string_view(hello_bytes).substr(0, size)), Error);
  }

  const Failure failure = decode_failure(encode(Failure{-1, "nobody's fault"}));
  CHECK(failure.rank == -1);
  CHECK(failure.reason == "nobody's fault");

  const std::string contribution = encode(Contribution{Collective::kGather, 5, 1000, "bytes"});
  CHECK(decode_contribution(contribution).bytes == "bytes");
  for (std::size_t size = 0; size < 12; ++size) {
    CHECK_THROWS_AS(decode_contribution(std::string_view(contribution).substr(0, size)), Error);
  }
  CHECK_THROWS_AS(decode_contribution(WireWriter().u32(99).u32(0).u32(0).take()), Error);

  const std::vector<std::string> texts = {"", "a", std::string("\0b", 2)};
  CHECK(unpack(pack(texts)) == texts);
  CHECK_THROWS_AS(unpack(pack(texts) + "x"), Error);
}

TEST_CASE("hellos disagree in the first thing that differs") {
  const Hello host = {kProtocolVersion, 0, 4, "a", "pid 1 on x"};
  const Hello guest = {kProtocolVersion, 1, 4, "a", "pid 2 on y"};
  CHECK(disagreement(host, guest).empty());
  struct Row {
    Hello guest;
    std::string words;
  };
  const std::vector<Row> rows = {
      {{kProtocolVersion + 1, 1, 4, "b", "pid 2 on y"}, "version"},
      {{kProtocolVersion, 1, 5, "", "pid 2 on y"}, "two jobs"},
      {{kProtocolVersion, 1, 5, "a", "pid 2 on y"}, "world size differs: 4"},
      {{kProtocolVersion, 4, 4, "a", "pid 2 on y"}, "rank 4 of 4, which does not exist"},
      {{kProtocolVersion, -1, 4, "a", "pid 2 on y"}, "rank -1 of 4"},
      {{kProtocolVersion, 0, 4, "a", "pid 2 on y"},
       "two processes are rank 0: pid 1 on x and pid 2"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.words);
    CHECK(disagreement(host, row.guest).find(row.words) != std::string::npos);
    CHECK(disagreement(host, row.guest).find("pid 2 on y") != std::string::npos);
  }
}

TEST_CASE("ranks in words") {
  const std::vector<std::pair<std::vector<int>, std::string>> rows = {
      {{}, "no rank"},
      {{3}, "rank 3"},
      {{0, 2}, "ranks 0 and 2"},
      {{0, 2, 5}, "ranks 0, 2 and 5"},
      {{0, 1, 2, 3, 4, 5, 6, 7, 8}, "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 8"},
      {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 more"},
  };
  for (const auto& [ranks, words] : rows) CHECK(ranks_in_words(ranks) == words);
}

}  // namespace
}  // namespace rankbox::launcher
