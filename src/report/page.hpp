// The HTML file: a page (src/report/page), D3, and the data, in one.
#pragma once
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace ztp {

// Written by cmake/embed.cmake when ztp is built.
extern const std::string_view page_d3, page_licence, page_html, page_style, page_script;

// The page with these data in it. They are compressed, so that no text of theirs can be taken for HTML.
std::string make_page(const std::string& title, const Json& data);

// What every report begins with.
inline constexpr std::string_view page_begin = "<!doctype html>\n<!-- a report of ztp -->\n";

}  // namespace ztp
