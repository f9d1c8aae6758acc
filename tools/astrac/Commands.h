// The commands of astrac that run programs. Each gives the exit status.
#ifndef ASTRA_TOOLS_ASTRAC_COMMANDS_H
#define ASTRA_TOOLS_ASTRAC_COMMANDS_H

#include "tools/astrac/Options.h"

namespace astra {

/// `astrac run FILE FN ARG... [-o out.npy]`
int runFunction(const Options &options);
/// `astrac test FILE|FOLDER...`
int runTests(const Options &options);

} // namespace astra
#endif // ASTRA_TOOLS_ASTRAC_COMMANDS_H
