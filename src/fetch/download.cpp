#include "fetch/download.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <new>

#include "ztp/error.hpp"
#include "ztp/version.hpp"

namespace ztp {
namespace {

constexpr long max_redirections = 10;
constexpr const char* mirror_hint = "or use a mirror with --from URL";

struct Transfer {
  std::string body;
  std::size_t max_bytes;
  bool too_large = false;
  bool no_memory = false;
  bool stopped = false;
  bool stalled = false;
  std::chrono::seconds timeout;
  std::size_t last_bytes = 0;
  std::chrono::steady_clock::time_point last_news = std::chrono::steady_clock::now();
  const std::function<void(std::uint64_t, std::uint64_t)>& progress;
  const std::function<bool()>& stop;
};

// libcurl has a limit of speed, too, but a mean over five seconds, which notices a server that has stopped too late.
void watch_for_stall(Transfer& transfer) {
  const auto now = std::chrono::steady_clock::now();
  if (transfer.body.size() != transfer.last_bytes) {
    transfer.last_bytes = transfer.body.size();
    transfer.last_news = now;
  }
  transfer.stalled = now - transfer.last_news > transfer.timeout;
}

// Called from C: nothing may be thrown through it.
std::size_t take_bytes(char* data, std::size_t size, std::size_t count, void* given) {
  Transfer& transfer = *static_cast<Transfer*>(given);
  const std::size_t bytes = size * count;
  if (bytes > transfer.max_bytes - transfer.body.size()) {
    transfer.too_large = true;
    return 0;
  }
  try {
    transfer.body.append(data, bytes);
  } catch (const std::bad_alloc&) {
    transfer.no_memory = true;
    return 0;
  }
  return bytes;
}

// Called at least once a second.
int on_progress(void* given, curl_off_t total, curl_off_t now, curl_off_t, curl_off_t) {
  Transfer& transfer = *static_cast<Transfer*>(given);
  try {
    if (transfer.progress) transfer.progress(static_cast<std::uint64_t>(now), static_cast<std::uint64_t>(total));
    transfer.stopped = transfer.stop && transfer.stop();
  } catch (...) {
    transfer.stopped = true;
  }
  watch_for_stall(transfer);
  return transfer.stopped || transfer.stalled ? 1 : 0;
}

struct CloseHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using Handle = std::unique_ptr<CURL, CloseHandle>;

Handle open_handle() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  Handle handle(ready == CURLE_OK ? curl_easy_init() : nullptr);
  if (!handle) throw Error(ErrorKind::io, "libcurl cannot be started");
  return handle;
}

bool is_https(const std::string& url) {
  return url.starts_with("https://");
}

// A setting that was refused would be a hole: an old libcurl without it is an error.
template <class Value>
void set(CURL* handle, CURLoption option, Value value) {
  const CURLcode code = curl_easy_setopt(handle, option, value);
  if (code != CURLE_OK)
    throw Error(ErrorKind::io, fmt::format("libcurl refuses a setting: {}", curl_easy_strerror(code)));
}

void prepare(CURL* handle, const std::string& url, const DownloadLimits& limits, Transfer& transfer, char* why) {
  set(handle, CURLOPT_URL, url.c_str());
  set(handle, CURLOPT_ERRORBUFFER, why);
  set(handle, CURLOPT_USERAGENT, fmt::format("ztp/{}", version()).c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
  set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  set(handle, CURLOPT_REDIR_PROTOCOLS_STR, is_https(url) ? "https" : "http,https");
#else
  const long https = CURLPROTO_HTTPS;
  set(handle, CURLOPT_PROTOCOLS, https | CURLPROTO_HTTP);
  set(handle, CURLOPT_REDIR_PROTOCOLS, is_https(url) ? https : https | CURLPROTO_HTTP);
#endif
  set(handle, CURLOPT_FOLLOWLOCATION, 1L);
  set(handle, CURLOPT_MAXREDIRS, max_redirections);
  set(handle, CURLOPT_FAILONERROR, 1L);
  set(handle, CURLOPT_CONNECTTIMEOUT, static_cast<long>(limits.timeout));
  set(handle, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(limits.max_bytes));
  set(handle, CURLOPT_WRITEFUNCTION, &take_bytes);
  set(handle, CURLOPT_WRITEDATA, &transfer);
  set(handle, CURLOPT_NOPROGRESS, 0L);
  set(handle, CURLOPT_XFERINFOFUNCTION, &on_progress);
  set(handle, CURLOPT_XFERINFODATA, &transfer);
}

std::string reason(CURL* handle, CURLcode code, const DownloadLimits& limits, const Transfer& transfer,
                   const char* why) {
  long status = 0;
  curl_off_t length = -1;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  if (transfer.stalled || code == CURLE_OPERATION_TIMEDOUT)
    return fmt::format("no byte came for {} seconds; try again later, wait longer with --timeout, {}", limits.timeout,
                       mirror_hint);
  switch (code) {
    case CURLE_HTTP_RETURNED_ERROR:
      if (status >= 500) return fmt::format("the server failed (HTTP {}); try again later, {}", status, mirror_hint);
      return fmt::format(
          "the server refuses it (HTTP {}); the file may have moved: look for it, and give its new base "
          "address with --from URL",
          status);
    case CURLE_PARTIAL_FILE:
      return fmt::format("cut short after {} of {} bytes; run the command again, {}", transfer.body.size(), length,
                         mirror_hint);
    case CURLE_TOO_MANY_REDIRECTS:
      return fmt::format("redirected more than {} times; {}", max_redirections, mirror_hint + 3);
    case CURLE_UNSUPPORTED_PROTOCOL:
      return fmt::format("redirected to an address that is not followed ({}); {}", why, mirror_hint + 3);
    default:
      return fmt::format("{}; check the connection, {}", *why != '\0' ? why : curl_easy_strerror(code), mirror_hint);
  }
}

}  // namespace

void check_address(const std::string& url) {
  if (is_https(url) || url.starts_with("http://")) return;
  throw Error(ErrorKind::usage, fmt::format("{}: an address begins with http:// or https://", url));
}

std::string download(const std::string& url, const DownloadLimits& limits,
                     const std::function<void(std::uint64_t bytes, std::uint64_t total)>& progress,
                     const std::function<bool()>& stop) {
  check_address(url);
  const Handle handle = open_handle();
  char why[CURL_ERROR_SIZE] = "";
  Transfer transfer{.body = {},
                    .max_bytes = limits.max_bytes,
                    .timeout = std::chrono::seconds(limits.timeout),
                    .progress = progress,
                    .stop = stop};
  prepare(handle.get(), url, limits, transfer, why);
  const CURLcode code = curl_easy_perform(handle.get());
  if (transfer.stopped) throw DownloadStopped();
  if (transfer.no_memory) throw std::bad_alloc();
  if (transfer.too_large || code == CURLE_FILESIZE_EXCEEDED)
    throw Error(ErrorKind::input, fmt::format("{}: larger than {} bytes, which it should not be; see what the address "
                                              "gives, or use a mirror with --from URL",
                                              url, limits.max_bytes));
  if (code != CURLE_OK)
    throw Error(ErrorKind::io, fmt::format("{}: {}", url, reason(handle.get(), code, limits, transfer, why)));
  return std::move(transfer.body);
}

}  // namespace ztp
