#include "codegen/source_pruning.h"

#include <algorithm>

#include "codegen/source_items.h"

namespace gemmtune::codegen {
namespace {

using NameSet = std::set<std::string, std::less<>>;

struct PrunedPart {
  std::string path;
  std::vector<SourceItem> items;
  std::vector<bool> kept;  // declarations, by index
};

// A part that cannot be split: an item without names, which stays.
SourceItem whole(const std::string& text) {
  SourceItem item;
  item.text = text;
  item.uses = words_of(text);
  return item;
}

bool share_a_name(const NameSet& a, const NameSet& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& name) { return b.contains(name); });
}

// Marks what is reachable, until nothing more is.
class Reach {
 public:
  Reach(std::vector<PrunedPart>& parts, NameSet needed)
      : parts_(parts), needed_(std::move(needed)) {
    for (const PrunedPart& part : parts_) {
      for (const SourceItem& item : part.items) {
        if (item.is_class) classes_.insert(item.names.begin(), item.names.end());
        // Conditions are few, and stay where anything between them does.
        if (item.kind != SourceItem::Kind::declaration) add(item.uses);
      }
    }
  }

  void run() {
    for (bool grown = true; grown;) {
      grown = false;
      for (PrunedPart& part : parts_) {
        for (size_t i = 0; i < part.items.size(); ++i) {
          const SourceItem& item = part.items[i];
          if (part.kept[i] || item.kind != SourceItem::Kind::declaration || !is_reached(item))
            continue;
          part.kept[i] = true;
          add(item.uses);
          grown = true;
        }
      }
    }
  }

 private:
  void add(const NameSet& names) { needed_.insert(names.begin(), names.end()); }

  // A function that takes a class by reference has no caller where nobody else names the class.
  bool is_reached(const SourceItem& item) const {
    if (item.names.empty()) return true;
    return share_a_name(item.names, needed_) &&
           std::all_of(item.referenced.begin(), item.referenced.end(), [&](const auto& name) {
             return !classes_.contains(name) || needed_.contains(name);
           });
  }

  std::vector<PrunedPart>& parts_;
  NameSet needed_;
  NameSet classes_;
};

// What is kept, with the namespaces and conditionals around it.
std::string text_of(const PrunedPart& part) {
  std::string text;
  std::vector<const SourceItem*> waiting;  // lines that nothing kept has followed yet
  std::vector<size_t> opened;              // of those open: how many lines waited before them
  for (size_t i = 0; i < part.items.size(); ++i) {
    const SourceItem& item = part.items[i];
    switch (item.kind) {
      case SourceItem::Kind::open:
        opened.push_back(waiting.size());
        waiting.push_back(&item);
        break;
      case SourceItem::Kind::middle:
        waiting.push_back(&item);
        break;
      case SourceItem::Kind::declaration:
        if (!part.kept[i]) break;
        for (const SourceItem* line : waiting) text += line->text;
        waiting.clear();
        std::fill(opened.begin(), opened.end(), 0);
        text += item.text;
        break;
      case SourceItem::Kind::close: {
        const bool begun = std::none_of(waiting.begin(), waiting.end(), [](const SourceItem* line) {
          return line->kind == SourceItem::Kind::open;
        });
        const size_t before = opened.back();
        opened.pop_back();
        waiting.resize(std::min(waiting.size(), before));
        if (begun) text += item.text;
        break;
      }
    }
  }
  return text;
}

// No more than one empty line at a time, and none at the beginning.
std::string without_gaps(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool gap = c == '\n' && (out.empty() || out.ends_with("\n\n"));
    if (!gap) out += c;
  }
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  return out;
}

}  // namespace

std::vector<SourcePart> keep_used(const std::vector<SourcePart>& parts, std::string_view user) {
  std::vector<PrunedPart> pruned;
  for (const SourcePart& part : parts) {
    auto items = split_source(part.text).value_or(std::vector{whole(part.text)});
    const size_t count = items.size();
    pruned.push_back({part.path, std::move(items), std::vector<bool>(count)});
  }
  Reach(pruned, words_of(user)).run();
  std::vector<SourcePart> kept;
  for (const PrunedPart& part : pruned) {
    if (std::find(part.kept.begin(), part.kept.end(), true) == part.kept.end()) continue;
    kept.push_back({part.path, without_gaps(text_of(part))});
  }
  return kept;
}

}  // namespace gemmtune::codegen
