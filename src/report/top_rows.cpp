#include "report/top_rows.hpp"

#include <algorithm>
#include <utility>

namespace ztp {

std::vector<std::vector<std::uint32_t>> top_rows(const std::vector<float>& matrix, std::size_t width,
                                                 const std::vector<std::size_t>& columns, std::size_t count) {
  using Entry = std::pair<float, std::uint32_t>;
  const auto before = [](const Entry& a, const Entry& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  std::vector<std::vector<Entry>> best(columns.size());  // heaps, the worst of the best on top
  const std::uint32_t rows = static_cast<std::uint32_t>(matrix.size() / width);
  for (std::uint32_t j = 0; j < rows; ++j)
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Entry entry{matrix[j * width + columns[i]], j};
      if (best[i].size() == count) {
        if (count == 0 || !before(entry, best[i].front())) continue;
        std::pop_heap(best[i].begin(), best[i].end(), before);
        best[i].pop_back();
      }
      best[i].push_back(entry);
      std::push_heap(best[i].begin(), best[i].end(), before);
    }
  std::vector<std::vector<std::uint32_t>> result(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::sort_heap(best[i].begin(), best[i].end(), before);
    for (const Entry& entry : best[i]) result[i].push_back(entry.second);
  }
  return result;
}

}  // namespace ztp
