// Comma-separated values (RFC 4180): fields between commas, records on lines. A field in quotes may
// hold commas and newlines, and "" for a quote.
//
// Parsed by hand, because the one library in Debian (libcsv) reports neither lines nor columns, and
// this takes forty lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankbox {

struct CsvRecord {
  std::vector<std::string> fields;
  int line = 0;  // where it begins, from 1
};

/// All records; each has as many fields as the first. Lines may end in \n or \r\n, empty ones are
/// skipped.
/// Throws InvalidArgument, one line with source and line number, for text that is not UTF-8 or has
/// zero bytes, a quote that is never closed, text between a closing quote and the comma, a quote
/// inside an unquoted field, or a record with another number of fields. What a quoted field of
/// several lines leads to is reported where it begins.
std::vector<CsvRecord> parse_csv(std::string_view text, const std::string& source);

/// The same for a file. Also throws InvalidArgument if it cannot be read.
std::vector<CsvRecord> read_csv(const std::string& path);

}  // namespace rankbox
