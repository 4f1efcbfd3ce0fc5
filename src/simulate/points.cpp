#include "simulate/points.hpp"

#include "base/errors.hpp"
#include "model/distributions.hpp"

namespace ztp {

PointDrawer::PointDrawer(const SimulateOptions& options, SimulateProgress progress)
    : truth_(options), progress_(std::move(progress)), scratch_(options.dims.size()) {
  double bytes = 0, reachable = 1;
  for (std::size_t k = 0; k < options.dims.size(); ++k) {
    const double support = static_cast<double>(truth_.support(k));
    bytes += support * static_cast<double>(truth_.columns(k)) * AliasTable::slot_bytes;
    reachable *= support;
  }
  // Up to this size the tables of all columns are kept, for later rounds and networks. Larger ones are drawn again.
  keep_ = bytes <= 5.0 * (1 << 30);
  if (keep_) tables_.resize(options.dims.size() * options.rank);
  const bool planted = options.kind != SimulateKind::model;
  if (planted) reachable *= static_cast<double>(options.rank);
  if (reachable < static_cast<double>(options.ones))
    throw config_error("--ones {} cannot be reached: {} {:.0f} cells; ask for fewer{}", options.ones,
                       planted ? fmt::format("the {} planted blocks have at most", options.rank) : "the tensor has",
                       reachable, planted ? ", for larger modes, a lower --rank, or --kind model" : "");
}

std::vector<std::uint64_t> PointDrawer::parts(std::uint32_t what, std::uint32_t round, std::uint64_t points) const {
  std::vector<std::uint64_t> of(truth_.shares().size());
  Stream stream(truth_.key(what), round, 0);
  draw_multinomial(stream, static_cast<std::int64_t>(points), truth_.shares(),
                   [&](std::size_t r, std::int64_t part) { of[r] += static_cast<std::uint64_t>(part); });
  return of;
}

const AliasTable& PointDrawer::table(std::size_t k, std::size_t r, AliasTable& scratch) {
  const std::size_t number = truth_.column_number(k, r);
  AliasTable& place = keep_ ? tables_[k * truth_.shares().size() + number] : scratch;
  if (!keep_ || place.size() == 0) {
    place = AliasTable();  // before the next is built: one table less in memory
    place = AliasTable(truth_.column(k, number));
  }
  return place;
}

KeySet PointDrawer::draw_edges(std::size_t k, std::uint64_t wanted) {
  const std::string flag = fmt::format("--edges {}={}", mode_names(truth_.options())[k], wanted);
  const double support = static_cast<double>(truth_.support(k));
  const bool planted = truth_.options().kind != SimulateKind::model;
  const double reachable = support * (support - 1) / 2 * (planted ? static_cast<double>(truth_.shares().size()) : 1);
  if (reachable < static_cast<double>(wanted))
    throw config_error("{} cannot be reached: there are at most {:.0f} pairs", flag, reachable);
  const std::uint64_t entities = truth_.options().dims[k];
  KeySet edges({entities, entities});
  collect(edges, wanted, flag, "drawing edges", simulate_stream::edge_parts + static_cast<std::uint32_t>(k),
          [&](std::uint32_t round, std::size_t r, std::uint64_t points) {
            draw_component_edges(edges, k, round, r, points);
          });
  return edges;
}

void PointDrawer::draw_component_edges(KeySet& edges, std::size_t k, std::uint32_t round, std::size_t r,
                                       std::uint64_t points) {
  const AliasTable& ends = table(k, r, scratch_[k]);
  const std::uint32_t what = simulate_stream::edge_ends + 2 * static_cast<std::uint32_t>(k);
  const StreamKey key_a = truth_.key(what), key_b = truth_.key(what + 1);
  Ids a, b;
  for (std::size_t begin = 0, block = 0; begin < points; begin += chunk, ++block) {
    const std::size_t count = std::min<std::uint64_t>(chunk, points - begin);
    ends.draw(key_a, round, stream_index(r, block), count, a.data());
    ends.draw(key_b, round, stream_index(r, block), count, b.data());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (a[i] == b[i]) continue;  // no edge from an entity to itself: a later round draws another
      const std::uint32_t low = std::min(a[i], b[i]), high = std::max(a[i], b[i]);
      a[kept] = low;
      b[kept++] = high;
    }
    const std::size_t first = edges.grow(kept);
    edges.set(first, kept, 0, a.data());
    edges.set(first, kept, 1, b.data());
  }
}

}  // namespace ztp
