#include "cli/tune/report/shared_lines.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace gemmtune::cli {
namespace {

std::string put_together(const SharedLines& shared, const std::vector<SharedLines::Run>& runs) {
  std::string text;
  for (const auto& [first, count] : runs) {
    for (size_t i = first; i < first + count; ++i) text += shared.lines().at(i) + '\n';
  }
  text.pop_back();
  return text;
}

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n}\n";
  return text;
}

TEST_CASE("texts are put together again from runs of shared lines") {
  std::mt19937 random(7);
  SharedLines shared;
  std::vector<std::string> texts = {"", "\n", "\n\n", "one line", "}\n}\n}\n}\n}\n}\n}"};
  for (int i = 0; i < 200; ++i) {
    std::string text;
    const int lines = static_cast<int>(random() % 40);
    for (int line = 0; line < lines; ++line) text += std::string(random() % 3, 'x') + "\n";
    texts.push_back(text);
  }
  std::vector<std::vector<SharedLines::Run>> runs;
  for (const std::string& text : texts) runs.push_back(shared.add(text));
  for (size_t i = 0; i < texts.size(); ++i) CHECK(put_together(shared, runs[i]) == texts[i]);
}

TEST_CASE("what texts have in common is kept once") {
  SharedLines shared;
  const std::string text = numbered_lines(1000);
  CHECK(shared.add(text) == std::vector<SharedLines::Run>{{0, 2001}});
  CHECK(shared.add(text) == std::vector<SharedLines::Run>{{0, 2001}});
  std::string changed = text;
  changed.replace(changed.find("line 500\n"), 8, "another");
  const auto runs = shared.add(changed);
  CHECK(put_together(shared, runs) == changed);
  CHECK(runs.size() == 3);
  CHECK(shared.lines().size() == 2003);
}

}  // namespace
}  // namespace gemmtune::cli
