#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "fetch/data_sets.hpp"
#include "fetch/unpack.hpp"

namespace ztp {
namespace {

struct Movies {
  std::vector<std::uint64_t> source_ids;
  std::vector<std::string> titles, dates, genres;
  std::unordered_map<std::uint64_t, std::uint32_t> index;  // by source id
};

// u.item: id|title|release date|video date|address|a 0 or 1 for each genre, in ISO 8859-1.
Movies read_movies(const std::string& file, const std::string& text, const std::vector<std::string>& genres) {
  Movies movies;
  read_lines(file, text, {'|', 5 + genres.size()}, [&](const SourceLine& line) {
    const std::uint64_t id = line.number(0);
    if (!movies.index.emplace(id, static_cast<std::uint32_t>(movies.titles.size())).second)
      line.fail(0, fmt::format("movie {} is there twice", id));
    movies.source_ids.push_back(id);
    movies.titles.push_back(line.label(1));
    movies.dates.emplace_back(line[2]);
    std::string& list = movies.genres.emplace_back();
    for (std::size_t g = 0; g < genres.size(); ++g)
      if (line.number(5 + g, 1) == 1) list += (list.empty() ? "" : "|") + genres[g];
  });
  make_distinct(movies.titles, movies.source_ids);
  return movies;
}

// u.genre: name|number, in the order of the numbers.
std::vector<std::string> read_genres(const std::string& file, const std::string& text) {
  std::vector<std::string> genres;
  read_lines(file, text, {'|', 2}, [&](const SourceLine& line) {
    if (line.number(1) != genres.size()) line.fail(1, "genres are not in order");
    genres.push_back(line.label(0));
  });
  return genres;
}

struct Users {
  std::vector<std::string> labels;
  std::string table = "#user\tage\tgender\toccupation\n";
};

// u.user: id|age|gender|occupation|zip code. The zip codes are left out: they are not needed, and tell where people
// live.
Users read_users(const std::string& file, const std::string& text) {
  Users users;
  read_lines(file, text, {'|', 5}, [&](const SourceLine& line) {
    if (line.number(0) != users.labels.size() + 1) line.fail(0, "users are not in order");
    users.labels.push_back(fmt::format("user{}", line.number(0)));
    users.table += fmt::format("{}\t{}\t{}\t{}\n", users.labels.back(), line.number(1), line.label(2), line.label(3));
  });
  return users;
}

struct Rating {
  std::uint64_t stars, time;
};

}  // namespace

Converted convert_movielens(const Sources& sources) {
  const auto& [url, bytes] = sources.at("ml-100k.zip");
  const auto files =
      read_archive(bytes, Archive::zip, {"u.data", "u.item", "u.user", "u.genre"}, max_unpacked_bytes, url);
  const auto name_of = [&](const char* file) { return fmt::format("{} in {}", file, "ml-100k.zip"); };
  const std::string data_name = name_of("u.data"), item_name = name_of("u.item");
  const std::string user_name = name_of("u.user"), genre_name = name_of("u.genre");
  const std::vector<std::string> genres = read_genres(genre_name, files.at("u.genre"));
  const Movies movies = read_movies(item_name, utf8_of_latin1(files.at("u.item")), genres);
  const Users users = read_users(user_name, files.at("u.user"));

  std::map<std::array<std::uint32_t, 2>, Rating> ratings;  // sorted by user and movie
  read_lines(data_name, files.at("u.data"), {'\t', 4}, [&](const SourceLine& line) {
    const std::uint64_t user = line.number(0);
    const auto movie = movies.index.find(line.number(1));
    if (user < 1 || user > users.labels.size()) line.fail(0, fmt::format("user {} is not in u.user", user));
    if (movie == movies.index.end()) line.fail(1, fmt::format("movie {} is not in u.item", line[1]));
    ratings[{static_cast<std::uint32_t>(user - 1), movie->second}] = {line.number(2, 5), line.number(3, INT64_MAX)};
  });

  Converted result;
  std::string ones = "#user\tmovie\n", with_stars = "#user\tmovie\trating\tunix_time\n";
  for (const auto& [cell, rating] : ratings) {
    const std::string pair = users.labels[cell[0]] + "\t" + movies.titles[cell[1]];
    ones += pair + "\n";
    with_stars += fmt::format("{}\t{}\t{}\n", pair, rating.stars, rating.time);
  }
  std::string movie_table = "#movie\tsource_id\trelease_date\tgenres\n";
  for (std::size_t j = 0; j < movies.titles.size(); ++j)
    movie_table +=
        fmt::format("{}\t{}\t{}\t{}\n", movies.titles[j], movies.source_ids[j], movies.dates[j], movies.genres[j]);
  result.files = {{"tensor.tsv.gz", std::move(ones)},
                  {"ratings.tsv.gz", std::move(with_stars)},
                  {"movie-labels.tsv", std::move(movie_table)},
                  {"user-labels.tsv", users.table}};
  result.modes = {{"user", users.labels.size()}, {"movie", movies.titles.size()}};
  result.ones = ratings.size();
  return result;
}

}  // namespace ztp
