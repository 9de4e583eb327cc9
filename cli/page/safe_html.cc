#include "cli/page/safe_html.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <md4c.h>

namespace rankbox::cli {
namespace {

constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
constexpr unsigned kLevelsAbove = 1;
constexpr unsigned kLowestHeading = 6;

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string_view text_in(const MD_ATTRIBUTE& attribute) { return {attribute.text, attribute.size}; }

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kNameCharacters) == std::string_view::npos;
}

/// Returns whether it is "ring.svg": a drawing beside the page.
bool is_drawing(std::string_view source) {
  return (source.ends_with(".svg") || source.ends_with(".png")) &&
         is_name(source.substr(0, source.size() - 4));
}

/// Returns the attributes of a link; empty if it stays text.
std::string link_to(std::string_view target) {
  if (target.starts_with("https://") || target.starts_with("http://"))
    return fmt::format(R"(href="{}" target="_blank" rel="noreferrer noopener")", escaped(target));
  constexpr std::string_view kUp = "../";
  constexpr std::string_view kPage = "/README.md";
  target = target.substr(0, target.find('#'));
  if (!target.starts_with(kUp) || !target.ends_with(kPage)) return "";
  const std::string_view folder =
      target.substr(kUp.size(), target.size() - std::min(target.size(), kUp.size() + kPage.size()));
  return is_name(folder) ? fmt::format(R"(href="#chapter/{}")", folder) : "";
}

/// Returns the tag of a block without attributes; empty if it has none.
std::string_view name_of(MD_BLOCKTYPE type) {
  switch (type) {
    case MD_BLOCK_QUOTE:
      return "blockquote";
    case MD_BLOCK_UL:
      return "ul";
    case MD_BLOCK_OL:
      return "ol";
    case MD_BLOCK_LI:
      return "li";
    case MD_BLOCK_P:
      return "p";
    case MD_BLOCK_THEAD:
      return "thead";
    case MD_BLOCK_TBODY:
      return "tbody";
    case MD_BLOCK_TR:
      return "tr";
    case MD_BLOCK_TH:
      return "th";
    case MD_BLOCK_TD:
      return "td";
    default:
      return "";
  }
}

std::string_view name_of(MD_SPANTYPE type) {
  switch (type) {
    case MD_SPAN_EM:
      return "em";
    case MD_SPAN_STRONG:
      return "strong";
    case MD_SPAN_CODE:
      return "code";
    default:
      return "";
  }
}

std::string opening(std::string_view name) { return name.empty() ? "" : fmt::format("<{}>", name); }

std::string closing(std::string_view name) {
  return name.empty() ? "" : fmt::format("</{}>", name);
}

/// Writes what md4c reports.
class Writer {
 public:
  explicit Writer(const std::string& base) : base_(base) {}

  void enter(MD_BLOCKTYPE type, void* detail) {
    switch (type) {
      case MD_BLOCK_H:
        html_ += fmt::format("<h{}>", heading(detail));
        break;
      case MD_BLOCK_OL:
        html_ += fmt::format("<ol start=\"{}\">", static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start);
        break;
      case MD_BLOCK_CODE:
        html_ += fmt::format("<pre tabindex=\"0\"><code data-language=\"{}\">",
                             escaped(text_in(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->lang)));
        break;
      case MD_BLOCK_TABLE:
        html_ += R"(<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>)";
        break;
      case MD_BLOCK_TH:
        html_ += "<th scope=\"col\">";
        break;
      case MD_BLOCK_HR:
        html_ += "<hr>";
        break;
      case MD_BLOCK_HTML:
        raw_.clear();
        break;
      default:
        html_ += opening(name_of(type));
    }
  }

  void leave(MD_BLOCKTYPE type, void* detail) {
    switch (type) {
      case MD_BLOCK_H:
        html_ += fmt::format("</h{}>\n", heading(detail));
        break;
      case MD_BLOCK_CODE:
        html_ += "</code></pre>\n";
        break;
      case MD_BLOCK_TABLE:
        html_ += "</table></div>\n";
        break;
      case MD_BLOCK_HR:
        break;
      case MD_BLOCK_HTML:
        write_raw();
        break;
      default:
        html_ += closing(name_of(type));
        if (type != MD_BLOCK_DOC) html_ += '\n';
    }
  }

  void enter(MD_SPANTYPE type, void* detail) {
    if (type == MD_SPAN_IMG) return enter_image(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src);
    if (images_ > 0) return;  // its text is an attribute
    if (type == MD_SPAN_A) {
      const std::string link = link_to(text_in(static_cast<MD_SPAN_A_DETAIL*>(detail)->href));
      is_link_.push_back(!link.empty());
      if (!link.empty()) html_ += fmt::format("<a {}>", link);
    } else {
      html_ += opening(name_of(type));
    }
  }

  void leave(MD_SPANTYPE type) {
    if (type == MD_SPAN_IMG) {
      --images_;
      if (images_ == 0) html_ += is_shown_ ? "\" loading=\"lazy\">" : "</em>";
    } else if (images_ > 0) {
      return;
    } else if (type == MD_SPAN_A) {
      if (is_link_.back()) html_ += "</a>";
      is_link_.pop_back();
    } else {
      html_ += closing(name_of(type));
    }
  }

  void text(MD_TEXTTYPE type, std::string_view text) {
    if (type == MD_TEXT_HTML) {
      raw_ += text;
    } else if (type == MD_TEXT_ENTITY) {
      html_ += text;  // of letters, digits and #
    } else if (type == MD_TEXT_BR && images_ == 0) {
      html_ += "<br>\n";
    } else if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR) {
      html_ += "\n";
    } else {
      html_ += escaped(text);
    }
  }

  std::string take() {
    for (; open_details_ > 0; --open_details_) html_ += "</details>\n";
    return std::move(html_);
  }

 private:
  static unsigned heading(void* detail) {
    return std::min(kLowestHeading, static_cast<MD_BLOCK_H_DETAIL*>(detail)->level + kLevelsAbove);
  }

  void enter_image(const MD_ATTRIBUTE& source) {
    ++images_;
    if (images_ > 1) return;
    is_shown_ = is_drawing(text_in(source));
    html_ += is_shown_ ? fmt::format("<img src=\"{}{}\" alt=\"", base_, text_in(source)) : "<em>";
  }

  /// Writes a block of HTML: nothing of a comment, our two forms, or its text.
  void write_raw() {
    constexpr std::string_view kCommentOpen = "<!--";
    constexpr std::string_view kCommentClose = "-->";
    constexpr std::string_view kOpen = "<details><summary>";
    constexpr std::string_view kClose = "</summary>";
    std::string_view text = raw_;
    while (text.ends_with('\n')) text.remove_suffix(1);
    if (text.starts_with(kCommentOpen) &&
        text.find(kCommentClose) == text.size() - kCommentClose.size())
      return;
    if (text.starts_with(kOpen) && text.ends_with(kClose)) {
      text.remove_prefix(kOpen.size());
      text.remove_suffix(kClose.size());
      html_ += fmt::format("<details><summary>{}</summary>\n", escaped(text));
      ++open_details_;
    } else if (text == "</details>" && open_details_ > 0) {
      html_ += "</details>\n";
      --open_details_;
    } else {
      html_ += fmt::format("<p>{}</p>\n", escaped(text));
    }
  }

  const std::string& base_;
  std::string html_;
  std::string raw_;            // the block of HTML that is being read
  std::vector<bool> is_link_;  // of the open links
  int images_ = 0;             // open, one inside the other
  bool is_shown_ = false;      // the outermost of them
  int open_details_ = 0;
};

Writer& writer(void* it) { return *static_cast<Writer*>(it); }

}  // namespace

std::string safe_html(std::string_view markdown, const std::string& base) {
  MD_PARSER parser = {};
  parser.flags = MD_FLAG_TABLES | MD_FLAG_NOHTMLSPANS;
  parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* it) {
    writer(it).enter(type, detail);
    return 0;
  };
  parser.leave_block = [](MD_BLOCKTYPE type, void* detail, void* it) {
    writer(it).leave(type, detail);
    return 0;
  };
  parser.enter_span = [](MD_SPANTYPE type, void* detail, void* it) {
    writer(it).enter(type, detail);
    return 0;
  };
  parser.leave_span = [](MD_SPANTYPE type, void*, void* it) {
    writer(it).leave(type);
    return 0;
  };
  parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* it) {
    writer(it).text(type, {text, size});
    return 0;
  };
  Writer html(base);
  md_parse(markdown.data(), static_cast<MD_SIZE>(markdown.size()), &parser, &html);
  return html.take();
}

}  // namespace rankbox::cli
