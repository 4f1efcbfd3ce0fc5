#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "fetch/data_sets.hpp"
#include "fetch/unpack.hpp"

namespace ztp {
namespace {

// Source ids, in their order, and back to their place.
struct Ids {
  std::vector<std::uint64_t> sorted;
  void finish() {
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  }
  std::uint32_t place(std::uint64_t id) const {
    return static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), id) - sorted.begin());
  }
};

struct Post {
  std::uint64_t wall, author, day;  // days since 1970
};

struct Link {
  std::uint64_t from, to;
};

std::vector<Post> read_posts(const std::string& file, const std::string& text) {
  constexpr std::uint64_t year_2100 = 4102444800;
  std::vector<Post> posts;
  read_lines(file, text, {'\t', 3}, [&](const SourceLine& line) {
    posts.push_back({line.number(0), line.number(1), line.number(2, year_2100) / 86400});
  });
  return posts;
}

// The third column, the time at which two users became friends or \N, is not used.
std::vector<Link> read_links(const std::string& file, const std::string& text) {
  std::vector<Link> links;
  read_lines(file, text, {'\t', 3}, [&](const SourceLine& line) { links.push_back({line.number(0), line.number(1)}); });
  return links;
}

std::string date_of(std::uint64_t day) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{static_cast<int>(day)}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

Cells<2> undirected(const std::vector<Link>& links, const Ids& users) {
  Cells<2> edges;
  for (const Link& link : links) {
    const std::uint32_t a = users.place(link.from), b = users.place(link.to);
    if (a != b) edges.push_back({std::min(a, b), std::max(a, b)});
  }
  sort_and_merge(edges);
  return edges;
}

}  // namespace

Converted convert_facebook(const Sources& sources) {
  const auto unpacked = [&](const char* name) {
    const Source& source = sources.at(name);
    return inflate_all(source.bytes, Compression::gzip, max_unpacked_bytes, source.url);
  };
  const std::vector<Post> posts = read_posts("facebook-wall.txt.gz", unpacked("facebook-wall.txt.gz"));
  const std::vector<Link> links = read_links("facebook-links.txt.gz", unpacked("facebook-links.txt.gz"));
  Ids users, days;
  for (const Post& post : posts) {
    users.sorted.insert(users.sorted.end(), {post.wall, post.author});
    days.sorted.push_back(post.day);
  }
  for (const Link& link : links) users.sorted.insert(users.sorted.end(), {link.from, link.to});
  users.finish();
  days.finish();

  std::vector<std::string> user_labels, day_labels;
  for (const std::uint64_t id : users.sorted) user_labels.push_back(fmt::format("u{}", id));
  for (const std::uint64_t day : days.sorted) day_labels.push_back(date_of(day));
  Cells<3> ones;
  for (const Post& post : posts)
    ones.push_back({users.place(post.wall), users.place(post.author), days.place(post.day)});
  sort_and_merge(ones);
  const Cells<2> edges = undirected(links, users);

  std::string user_table = "#user\n";
  for (const std::string& label : user_labels) user_table += label + "\n";
  Converted result;
  result.files = {{"tensor.tsv.gz", text_of<3>("user_i\tuser_j\tday", ones, {&user_labels, &user_labels, &day_labels})},
                  {"network-user_i.tsv.gz", text_of<2>("user_i\tuser_i", edges, {&user_labels, &user_labels})},
                  {"user-labels.tsv", std::move(user_table)}};
  result.modes = {{"user_i", users.sorted.size()}, {"user_j", users.sorted.size()}, {"day", days.sorted.size()}};
  result.ones = ones.size();
  result.edges = edges.size();
  return result;
}

}  // namespace ztp
