#include "store/config_function.h"

#include <sqlite3.h>

#include <string>
#include <string_view>

#include "core/config_spelling.h"
#include "store/rows.h"

namespace gemmtune::store {
namespace {

std::string_view text_of(sqlite3_value* value) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_value_bytes(value))};
}

void return_text(sqlite3_context* context, const std::string& text) {
  sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

// A row whose arch cannot be read keeps its config.
void evaluate_with_arch(sqlite3_context* context, int, sqlite3_value** arguments) {
  const std::string_view config = text_of(arguments[1]);
  const auto arch = parse_any_arch(text_of(arguments[2]));
  return_text(context,
              arch ? current_config(text_of(arguments[0]), config, *arch) : std::string(config));
}

void evaluate(sqlite3_context* context, int, sqlite3_value** arguments) {
  return_text(context, current_config(text_of(arguments[0]), text_of(arguments[1])));
}

}  // namespace

void add_config_function(SQLite::Database& database) {
  constexpr bool kDeterministic = true;
  database.createFunction("current_config", 3, kDeterministic, nullptr, evaluate_with_arch, nullptr,
                          nullptr, nullptr);
  database.createFunction("current_config", 2, kDeterministic, nullptr, evaluate, nullptr, nullptr,
                          nullptr);
}

}  // namespace gemmtune::store
