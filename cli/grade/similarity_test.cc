#include "cli/grade/similarity.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cli/grade/tokens.h"

namespace rankbox::cli {

namespace {

constexpr const char* kStub = R"(#include "collectives/gather_naive.h"
namespace rankbox {
void gather_naive(Comm& dist, const Tensor& part, Tensor& result, int dst) {
  throw NotImplemented("gather_naive");
}
}
)";

constexpr const char* kSolution = R"(#include "collectives/gather_naive.h"
namespace rankbox {
void gather_naive(Comm& dist, const Tensor& part, Tensor& result, int dst) {
  if (dist.rank() != dst) {
    dist.send(part, dst);
    return;
  }
  for (int src = 0; src < dist.world_size(); ++src) {
    if (src == dst) {
      result.chunk(src, dist.world_size()).copy_from(part);
    } else {
      dist.recv(result.chunk(src, dist.world_size()), src);
    }
  }
}
}
)";

constexpr const char* kOriginal = R"(#include "collectives/gather_naive.h"
namespace rankbox {
// Where the part of a rank goes.
Slice place_of(Tensor& result, int rank, int world_size) {
  return result.chunk(rank, world_size);
}
std::vector<Request> start_all(Comm& dist, Tensor& result, int dst) {
  std::vector<Request> requests;
  for (int rank = dist.world_size() - 1; rank >= 0; --rank) {
    if (rank != dst) requests.push_back(dist.irecv(place_of(result, rank, dist.world_size()), rank));
  }
  return requests;
}
void gather_naive(Comm& dist, const Tensor& part, Tensor& result, int dst) {
  const bool is_root = dist.rank() == dst;
  if (!is_root) return dist.send(part, dst);
  std::vector<Request> requests = start_all(dist, result, dst);
  place_of(result, dst, dist.world_size()).copy_from(part);
  dist.wait_all(requests);
}
}
)";

/// kOriginal with other names, comments, types, layout, and order of functions.
constexpr const char* kDisguised = R"(#include <vector>

#include "collectives/gather_naive.h"

namespace rankbox {

/* My own work. */
std::vector<Request> begin(Comm& c, Tensor& out, int root) {
  std::vector<Request> pending;
  for (auto r = c.world_size() - 1; r >= 0; --r) {
    if (r != root) {
      pending.push_back(c.irecv(at(out, r, c.world_size()), r));
    }
  }
  return pending;
}

Slice at(Tensor& out, const int r, const int p) { return out.chunk(r, p); }

void gather_naive(Comm& c, const Tensor& mine, Tensor& out, int root) {
  bool root_here = c.rank() == root;  // this rank collects
  if (!root_here) return c.send(mine, root);
  auto pending = begin(c, out, root);
  at(out, root, c.world_size()).copy_from(mine);
  c.wait_all(pending);
}

}  // namespace rankbox
)";

const HandedOutText kHandedOut = {"gather_naive", kStub, kSolution};

std::vector<SimilarPair> pairs_of(std::vector<SubmittedText> submissions) {
  for (SubmittedText& each : submissions) each.exercise = "gather_naive";
  return similar_pairs(submissions, {kHandedOut});
}

bool same_tokens(const std::string& a, const std::string& b) {
  const std::vector<Token> of_a = tokens_of(a);
  const std::vector<Token> of_b = tokens_of(b);
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                    [](const Token& x, const Token& y) { return x.hash == y.hash; });
}

}  // namespace

TEST_CASE("tokens are the same under a disguise, and differ where programs do") {
  struct Row {
    const char* a;
    const char* b;
    bool same;
  };
  const Row rows[] = {
      {"int a = 1;", "auto other = 0x7f'00;  // a comment", true},
      {"f(\"a\\\"b\");", "g( R\"x(a\nb)x\" );", true},
      {"#define A \\\n  1\nif (a) { b(); }", "if (c) d();", true},
      {"const double x = 1.5e-3;", "float y=2;", true},
      {"a /* b\n */ = 'c';", "x = '\\'';", true},
      {"dist.send(t, 1);", "d.send(u, 2);", true},
      {"dist.send(t, 1);", "dist.recv(t, 1);", false},
      {"a->wait();", "a->start();", false},
      {"a < b;", "a <= b;", false},
      {"while (a) b();", "if (a) b();", false},
      {"a + 1;", "a + b;", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.a);
    CAPTURE(row.b);
    CHECK(same_tokens(row.a, row.b) == row.same);
  }
}

TEST_CASE("a token has its line, and text that is no C++ ends") {
  const std::vector<Token> tokens = tokens_of("a\n/* b\n\n */ c\n#if d \\\n e\nf");
  REQUIRE(tokens.size() == 3);
  CHECK(tokens[0].line == 1);
  CHECK(tokens[1].line == 4);
  CHECK(tokens[2].line == 7);
  for (const char* text :
       {"", "\"", "'", "R\"", "R\"x(", "/*", "//", "#", "\\", "1'", "1e", "\xff"})
    CHECK(tokens_of(text).size() <= 2);
}

TEST_CASE("a copy with other names, comments, layout and order is found, with its lines") {
  const std::vector<SimilarPair> pairs =
      pairs_of({{"ada", "", kOriginal}, {"bob", "", kDisguised}, {"cy", "", kOriginal}});
  REQUIRE(pairs.size() == 3);
  for (const SimilarPair& pair : pairs) {
    CAPTURE(to_text(pair));
    CHECK(pair.score >= (pair.same_text ? 1.0 : 0.8));
    CHECK(pair.same_text == (pair.a == "ada" && pair.b == "cy"));
    REQUIRE(!pair.passages.empty());
    for (const SimilarPassage& each : pair.passages) {
      CHECK(each.first_line_of_a >= 3);
      CHECK(each.last_line_of_a >= each.first_line_of_a);
      CHECK(each.last_line_of_a <= 29);
      CHECK(each.last_line_of_b <= 29);
    }
  }
}

TEST_CASE("what was handed out is not counted between students") {
  CHECK(pairs_of({{"ada", "", kStub}, {"bob", "", kStub}}).empty());
  CHECK(pairs_of({{"ada", "", kOriginal}, {"bob", "", kStub}}).empty());

  const std::vector<SimilarPair> pairs =
      pairs_of({{"ada", "", kSolution}, {"bob", "", kSolution}, {"cy", "", kOriginal}});
  REQUIRE(pairs.size() == 2);
  for (const SimilarPair& pair : pairs) {
    CHECK(pair.b.empty());
    CHECK(pair.a != "cy");
    CHECK(pair.score == 1.0);
  }
}

TEST_CASE("a student is not compared with the same student, nor one exercise with another") {
  CHECK(pairs_of({{"ada", "", kOriginal}, {"ada", "", kOriginal}}).empty());
  CHECK(similar_pairs({{"ada", "one", kOriginal}, {"bob", "two", kOriginal}}, {}).empty());
  CHECK(similar_pairs({{"ada", "one", kOriginal}, {"bob", "one", kOriginal}}, {}).size() == 1);
}

TEST_CASE("JSON has all fields, and text the names and lines") {
  const SimilarPair pair = {
      "gather_naive", "ada", "", 0.75, 12, false, {{3, 5, 7, 7}, {9, 9, 1, 2}}};
  const auto json = nlohmann::json::parse(to_json({pair}));
  CHECK(json == nlohmann::json::parse(R"([{"exercise": "gather_naive", "a": "ada", "b": null,
      "score": 0.75, "shared": 12, "same_text": false,
      "passages": [{"a": [3, 5], "b": [7, 7]}, {"a": [9, 9], "b": [1, 2]}]}])"));
  CHECK(to_json({}) == "[]");
  CHECK(to_text(pair) ==
        " 75 %  gather_naive  ada and the reference solution: lines 3-5 and 7, 9 and 1-2");
}

}  // namespace rankbox::cli
