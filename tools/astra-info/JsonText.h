// Whether a text is JSON. The tree of a value comes out of a file that nobody
// vouches for, and stands in the report as it is. Knows no other file.
#ifndef ASTRA_TOOLS_ASTRA_INFO_JSONTEXT_H
#define ASTRA_TOOLS_ASTRA_INFO_JSONTEXT_H

#include <string>

namespace astra {

/// One value of RFC 8259 and white space, nested no deeper than types may be.
bool isJson(const std::string &text);

} // namespace astra
#endif // ASTRA_TOOLS_ASTRA_INFO_JSONTEXT_H
