#include "cli/page/safe_html.h"

#include <string>

#include <doctest/doctest.h>

namespace rankbox::cli {
namespace {

std::string html(const std::string& markdown) { return safe_html(markdown, "chapter/02_x/"); }

TEST_CASE("what the chapters use is rendered") {
  struct Row {
    const char* markdown;
    const char* html;
  };
  for (const Row& row : {
           Row{"# Title", "<h2>Title</h2>\n"},
           Row{"###### Low", "<h6>Low</h6>\n"},
           Row{"a *b* **c** `d<e`", "<p>a <em>b</em> <strong>c</strong> <code>d&lt;e</code></p>\n"},
           Row{"- a\n- b", "<ul><li>a</li>\n<li>b</li>\n</ul>\n"},
           Row{"3. a", "<ol start=\"3\"><li>a</li>\n</ol>\n"},
           Row{"```cpp\na < b;\n```",
               "<pre tabindex=\"0\"><code data-language=\"cpp\">a &lt; b;\n</code></pre>\n"},
           Row{"a &lt; &nbsp;", "<p>a &lt; &nbsp;</p>\n"},
           Row{"[all-reduce](../04_allreduce/README.md)",
               "<p><a href=\"#chapter/04_allreduce\">all-reduce</a></p>\n"},
           Row{"![a *ring*](ring.svg)",
               "<p><img src=\"chapter/02_x/ring.svg\" alt=\"a ring\" loading=\"lazy\"></p>\n"},
           Row{"<details><summary>Why & how</summary>\n\nx\n\n</details>",
               "<details><summary>Why &amp; how</summary>\n<p>x</p>\n</details>\n"},
           Row{"a\n<!-- times:\n tree -->\nb", "<p>a</p>\n<p>b</p>\n"},
       }) {
    CAPTURE(row.markdown);
    CHECK(html(row.markdown) == row.html);
  }
  CHECK(html("| a | b |\n|---|---|\n| 1 | 2 |").find("<th scope=\"col\">b</th>") !=
        std::string::npos);
  CHECK(html("[MPI](https://mpi-forum.org/?a&b)").find("href=\"https://mpi-forum.org/?a&amp;b\"") !=
        std::string::npos);
}

TEST_CASE("what could do harm stays text") {
  for (const char* markdown : {
           "<script>alert(1)</script>",
           "a <script>alert(1)</script> b",
           "<img src=x onerror=alert(1)>",
           "a <b onclick=\"x\">",
           "<!-- x --><script>alert(1)</script>",
           "<!-- x --> <b> -->",
           "<details><summary><script>x</script></summary>",
           "[x](javascript:alert(1))",
           "[x](JavaScript:alert(1))",
           "[x](data:text/html,<script>)",
           "[x](../../docs/gpu.md)",
           "[x](../<script>/README.md)",
           "[x](../README.md)",
           "[x](../../README.md)",
           "![x](https://example.org/x.png)",
           "![x](../../docs/x.svg)",
           "![x\" onerror=\"y](..%2fx.svg)",
           "![x](\"onerror=alert(1).svg)",
           "```\"><script>\nx\n```",
       }) {
    CAPTURE(markdown);
    const std::string made = html(markdown);
    CAPTURE(made);
    for (const char* tag : {"<script", "<img", "<a ", "<b"})
      CHECK(made.find(tag) == std::string::npos);
  }
}

TEST_CASE("text in an image is an attribute of it") {
  CHECK(html("![\"><script> & *x* ![y](b.svg)](a.svg)")
            .find("alt=\"&quot;&gt;&lt;script&gt; &amp; x y\"") != std::string::npos);
}

TEST_CASE("details that are not closed end with the text") {
  CHECK(html("<details><summary>a</summary>\n\nb").ends_with("</details>\n"));
  CHECK(html("</details>\n") == "<p>&lt;/details&gt;</p>\n");
}

}  // namespace
}  // namespace rankbox::cli
