#include "kernel/ranks/place_by_columns.hpp"

#include <algorithm>
#include <numeric>

#include "model/distributions.hpp"

namespace ztp {

void place_by_columns(Comm& comm, const RankFactors& u, const std::vector<std::int64_t>& drawn,
                      std::vector<Stream>& stream, std::int64_t unit, HostCounts& S) {
  struct Placed {
    std::uint32_t row, column;
    std::int64_t count;
  };
  const std::size_t ranks = comm.size(), rows = u.rows_here().size();
  std::vector<std::vector<std::size_t>> columns_of(ranks);
  for (std::size_t r = 0; r < drawn.size(); ++r)
    if (drawn[r] > 0) columns_of[r % ranks].push_back(r);
  const std::vector<std::size_t>& mine = columns_of[comm.rank()];
  std::vector<std::uint64_t> to_each(ranks), from_each(ranks);
  std::vector<float> send;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (const std::size_t r : columns_of[rank])
      for (std::size_t j = 0; j < rows; ++j) send.push_back(u.on_host().values.row(j)[r]);
    to_each[rank] = sizeof(float) * columns_of[rank].size() * rows;
    from_each[rank] = sizeof(float) * mine.size() * u.cut().of(rank).size();
  }
  std::vector<float> received(mine.size() * u.rows());
  comm.exchange(send.data(), to_each.data(), received.data(), from_each.data());
  std::vector<std::size_t> begin(ranks, 0);  // of what each rank has sent
  for (std::size_t rank = 1; rank < ranks; ++rank)
    begin[rank] = begin[rank - 1] + mine.size() * u.cut().of(rank - 1).size();
  std::vector<std::vector<Placed>> placed(ranks);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    std::vector<double> shares;
    for (const RowCut::Share& share : u.cut().shares) {
      const std::size_t size = share.end - share.begin;
      for (std::size_t j = 0; j < size; ++j) {
        const double value = static_cast<double>(received[begin[share.owner] + i * size + j]);
        shares.push_back(value * value);
      }
    }
    const std::size_t r = mine[i];
    draw_multinomial(stream[r], drawn[r], shares, [&](std::size_t j, std::int64_t part) {
      const RowCut::Share& share = u.cut().share_of(j);
      placed[share.owner].push_back(
          {static_cast<std::uint32_t>(j - share.begin), static_cast<std::uint32_t>(r), part * unit});
    });
  }
  std::vector<Placed> packed;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    to_each[rank] = sizeof(Placed) * placed[rank].size();
    packed.insert(packed.end(), placed[rank].begin(), placed[rank].end());
  }
  comm.exchange_sizes(to_each.data(), from_each.data());
  std::vector<Placed> here(std::accumulate(from_each.begin(), from_each.end(), std::uint64_t{0}) / sizeof(Placed));
  comm.exchange(packed.data(), to_each.data(), here.data(), from_each.data());
  S.make_room(unit * *std::max_element(drawn.begin(), drawn.end()));
  S.visit([&]<class T>(Matrix<T>& counts) {
    for (const Placed& part : here) counts.row(part.row)[part.column] += static_cast<T>(part.count);
  });
}

}  // namespace ztp
