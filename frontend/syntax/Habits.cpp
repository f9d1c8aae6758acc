// See Habits.h and Habits.def.
#include "frontend/syntax/Habits.h"
#include "llvm/ADT/StringSwitch.h"

llvm::StringRef astra::getHabitHelp(llvm::StringRef word) {
  return llvm::StringSwitch<llvm::StringRef>(word)
#define HABIT(word, help) .Case(word, help)
#include "frontend/syntax/Habits.def"
      .Default("");
}
