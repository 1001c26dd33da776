#pragma once

// A database image beside the main database.
// Statements have named columns and named parameters.

namespace gemmtune::store::sql {

inline constexpr const char* kImageSchema = "image";

inline constexpr const char* kAttachImage = "ATTACH ':memory:' AS image";

inline constexpr const char* kDetachImage = "DETACH image";

// What makes each object again: tables first, in the order in which they were made, each with what
// copies its rows.
inline constexpr const char* kSelectImageObjects = R"(
  SELECT sql,
         CASE type
           WHEN 'table' THEN printf('INSERT INTO main."%w" SELECT * FROM image."%w"', name, name)
           ELSE ''
         END AS copy_rows
  FROM image.sqlite_schema
  WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
  ORDER BY type <> 'table', rowid)";

}  // namespace gemmtune::store::sql
