#include "report/page.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include "ztp/error.hpp"

namespace ztp {
namespace {

// A gzip file: what DecompressionStream of browsers takes.
std::string gzipped(const std::string& text) {
  constexpr int gzip_window = 15 + 16;
  constexpr std::size_t most = std::size_t{500} << 20;  // browsers have no longer texts
  if (text.size() > most)
    throw Error(ErrorKind::config, "the data of the report are too large for a browser; ask for fewer entities");
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string result(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const int outcome = deflate(&stream, Z_FINISH);
  deflateEnd(&stream);
  if (outcome != Z_STREAM_END) throw std::logic_error("deflate did not finish");
  result.resize(stream.total_out);
  return result;
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8 | (i + j < bytes.size() ? static_cast<std::uint8_t>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) result += i + j > bytes.size() ? '=' : digits[three >> (18 - 6 * j) & 63];
  }
  return result;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

}  // namespace

std::string make_page(const std::string& title, const Json& data) {
  std::string page(page_begin);
  // The marks of page.html, in their order.
  std::string_view rest = page_html;
  const auto fill = [&](std::string_view mark, std::string_view text) {
    const std::size_t at = rest.find(mark);
    if (at == std::string_view::npos) throw std::logic_error(fmt::format("page.html has no {}", mark));
    page.append(rest.substr(0, at)).append(text);
    rest.remove_prefix(at + mark.size());
  };
  fill("{{title}}", escaped(title));
  fill("{{style}}", page_style);
  fill("{{data}}", base64(gzipped(json_text(data, -1))));
  fill("{{licence}}", page_licence);
  fill("{{d3}}", page_d3);
  fill("{{script}}", page_script);
  return page.append(rest);
}

}  // namespace ztp
