#include "codegen/source_pruning.h"

#include <algorithm>
#include <utility>

#include "codegen/source_items.h"
#include "codegen/source_tokens.h"

namespace gemmtune::codegen {

struct SplitPart {
  // An item with those in it, and its place among all of its part.
  struct Node {
    SourceItem item;
    size_t index = 0;
    std::vector<Node> members;
    SourceItem canonical;  // the item's texts, canonical
  };

  std::string path;
  std::vector<Node> nodes;
  size_t count = 0;                          // of all nodes
  std::set<std::string, std::less<>> names;  // of what may stay or go
};

namespace {

using NameSet = std::set<std::string, std::less<>>;
using Node = SplitPart::Node;

SourceItem canonical_of(const SourceItem& item) {
  SourceItem canonical;
  canonical.kind = item.kind;
  canonical.text = canonical_text(item.text);
  canonical.begin = canonical_text(item.begin);
  canonical.end = canonical_text(item.end);
  return canonical;
}

std::vector<Node> nodes_of(std::vector<SourceItem> items, size_t& count, bool with_canonical) {
  std::vector<Node> nodes;
  for (SourceItem& item : items) {
    const size_t index = count++;
    std::vector<Node> members = nodes_of(std::exchange(item.members, {}), count, with_canonical);
    SourceItem canonical = with_canonical ? canonical_of(item) : SourceItem{};
    nodes.push_back({std::move(item), index, std::move(members), std::move(canonical)});
  }
  return nodes;
}

// A part that cannot be split: an item without names, which stays.
SourceItem whole(const std::string& text) {
  SourceItem item;
  item.text = text;
  item.uses = words_of(text);
  item.accesses = accesses_of(text);
  return item;
}

bool share_a_name(const NameSet& a, const NameSet& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& name) { return b.contains(name); });
}

// Of each part, by a node's index, whether it stays.
using Kept = std::vector<std::vector<bool>>;

void add_names(const std::vector<Node>& nodes, bool are_members, NameSet& names) {
  for (const Node& node : nodes) {
    const bool stays = are_members && node.item.is_field;
    if (!stays) names.insert(node.item.names.begin(), node.item.names.end());
    add_names(node.members, true, names);
  }
}

// Marks what is reachable, until nothing more is.
class Reach {
 public:
  Reach(const SplitParts& parts, std::string_view user)
      : parts_(parts), needed_(words_of(user)), accessed_(accesses_of(user)) {
    for (const auto& part : parts_) {
      kept_.emplace_back(part->count);
      add_surroundings(part->nodes);
    }
  }

  Kept run() {
    for (grown_ = true; grown_;) {
      grown_ = false;
      for (size_t i = 0; i < parts_.size(); ++i) {
        for (const Node& node : parts_[i]->nodes) visit(node, kept_[i], false);
      }
    }
    return std::move(kept_);
  }

 private:
  // Conditions are few, and stay where anything between them does.
  void add_surroundings(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      if (node.item.is_class) classes_.insert(node.item.names.begin(), node.item.names.end());
      if (node.item.kind != SourceItem::Kind::declaration) add(node.item);
      add_surroundings(node.members);
    }
  }

  void add(const SourceItem& item) {
    needed_.insert(item.uses.begin(), item.uses.end());
    accessed_.insert(item.accesses.begin(), item.accesses.end());
  }

  void visit(const Node& node, std::vector<bool>& kept, bool is_member) {
    if (node.item.kind != SourceItem::Kind::declaration) return;
    if (!kept[node.index] && is_reached(node.item, is_member)) {
      kept[node.index] = grown_ = true;
      add(node.item);
    }
    if (!kept[node.index]) return;
    for (const Node& member : node.members) visit(member, kept, true);
  }

  // A function that takes a class by reference has no caller where nobody else names the class.
  bool is_reached(const SourceItem& item, bool is_member) const {
    if (item.names.empty() || (is_member && item.is_field)) return true;
    return (share_a_name(item.names, needed_) ||
            (is_member && share_a_name(item.names, accessed_))) &&
           std::all_of(item.referenced.begin(), item.referenced.end(), [&](const auto& name) {
             return !classes_.contains(name) || needed_.contains(name);
           });
  }

  const SplitParts& parts_;
  Kept kept_;
  NameSet needed_;
  NameSet accessed_;
  NameSet classes_;
  bool grown_ = false;
};

// Which of a node's texts is wanted.
using Text = SourceItem Node::*;

std::string text_of(const std::vector<Node>& nodes, const std::vector<bool>& kept, Text which);

std::string text_of(const Node& node, const std::vector<bool>& kept, Text which) {
  const SourceItem& item = node.*which;
  if (node.members.empty()) return item.text;
  std::string inside = text_of(node.members, kept, which);
  const size_t first = inside.find_first_not_of('\n');
  if (first > 1 && first != std::string::npos) inside.erase(0, first - 1);
  return item.begin + inside + item.end;
}

// What is kept, with the namespaces, conditionals and labels around it.
class KeptText {
 public:
  void add(const Node& node, const std::vector<bool>& kept, Text which) {
    const SourceItem& item = node.*which;
    switch (item.kind) {
      case SourceItem::Kind::open:
        opened_.push_back(waiting_.size());
        waiting_.push_back(&item);
        break;
      case SourceItem::Kind::label:
        if (!waiting_.empty() && waiting_.back()->kind == SourceItem::Kind::label)
          waiting_.pop_back();
        waiting_.push_back(&item);
        break;
      case SourceItem::Kind::middle:
        waiting_.push_back(&item);
        break;
      case SourceItem::Kind::declaration:
        if (kept[node.index]) add(text_of(node, kept, which));
        break;
      case SourceItem::Kind::close:
        close(item);
        break;
    }
  }

  std::string text;

 private:
  void add(const std::string& declaration) {
    for (const SourceItem* line : waiting_) text += line->text;
    waiting_.clear();
    std::fill(opened_.begin(), opened_.end(), 0);
    text += declaration;
  }

  void close(const SourceItem& item) {
    const bool begun = std::none_of(waiting_.begin(), waiting_.end(), [](const SourceItem* line) {
      return line->kind == SourceItem::Kind::open;
    });
    const size_t before = opened_.back();
    opened_.pop_back();
    waiting_.resize(std::min(waiting_.size(), before));
    if (begun) text += item.text;
  }

  std::vector<const SourceItem*> waiting_;  // lines that nothing kept has followed yet
  std::vector<size_t> opened_;              // of those open: how many lines waited before them
};

std::string text_of(const std::vector<Node>& nodes, const std::vector<bool>& kept, Text which) {
  KeptText out;
  for (const Node& node : nodes) out.add(node, kept, which);
  return std::move(out.text);
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

namespace {

std::shared_ptr<const SplitPart> split(const SourcePart& part, bool with_canonical) {
  auto split = std::make_shared<SplitPart>();
  split->path = part.path;
  split->nodes = nodes_of(split_source(part.text).value_or(std::vector{whole(part.text)}),
                          split->count, with_canonical);
  add_names(split->nodes, false, split->names);
  return split;
}

// The texts of the parts of which something is kept.
std::vector<SourcePart> kept_texts(const SplitParts& parts, std::string_view user, Text which) {
  const Kept all = Reach(parts, user).run();
  std::vector<SourcePart> out;
  for (size_t i = 0; i < parts.size(); ++i) {
    const SplitPart& part = *parts[i];
    const bool any = std::any_of(part.nodes.begin(), part.nodes.end(),
                                 [&](const Node& node) { return all[i][node.index]; });
    if (any) out.push_back({part.path, text_of(part.nodes, all[i], which)});
  }
  return out;
}

}  // namespace

std::shared_ptr<const SplitPart> split_part(const SourcePart& part) {
  return split(part, true);
}

std::vector<SourcePart> keep_used(const std::vector<SourcePart>& parts, std::string_view user,
                                  KnownParts& known) {
  SplitParts all;
  all.reserve(parts.size());
  for (const SourcePart& part : parts) {
    auto& found = known[part.text];
    if (found == nullptr || found->path != part.path) found = split(part, false);
    all.push_back(found);
  }
  std::vector<SourcePart> kept = kept_texts(all, user, &Node::item);
  for (SourcePart& part : kept) part.text = without_gaps(part.text);
  return kept;
}

std::string canonical_used(const SplitParts& parts, std::string_view user) {
  std::string all;
  for (const SourcePart& part : kept_texts(parts, user, &Node::canonical)) all += part.text;
  return all;
}

NameSet names_in(const SplitParts& parts) {
  NameSet names;
  for (const auto& part : parts) names.insert(part->names.begin(), part->names.end());
  return names;
}

std::set<std::string> deciding_words(const NameSet& names, std::string_view user) {
  std::set<std::string> deciding;
  for_each_word(user, [&](std::string_view word, bool is_member) {
    if (names.contains(word)) deciding.insert((is_member ? "." : "") + std::string(word));
  });
  return deciding;
}

}  // namespace gemmtune::codegen
