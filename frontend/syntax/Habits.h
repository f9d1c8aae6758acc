// Hints about names: what Astra has instead of words of other languages, and
// how far a misspelt name may be from the one that was meant. Knows only text.
#ifndef ASTRA_FRONTEND_SYNTAX_HABITS_H
#define ASTRA_FRONTEND_SYNTAX_HABITS_H

#include "llvm/ADT/StringRef.h"

namespace astra {

/// The help for a word of another language (`Habits.def`), or "".
llvm::StringRef getHabitHelp(llvm::StringRef word);

/// Up to how many letters may be wrong in a name that is taken for a
/// misspelling. None in names of one or two letters, which all look alike.
inline unsigned getTypoLimit(llvm::StringRef name) { return name.size() / 3; }

} // namespace astra
#endif // ASTRA_FRONTEND_SYNTAX_HABITS_H
