// What the shared library's own C++ runtime does with an exception that nobody
// catches, which none of ours is: it ends the process. The default would print
// the exception's type, for which a demangler is linked. Not in the static
// library, whose programs have a C++ runtime of their own.
#include <cstdlib>
#include <exception>

namespace __cxxabiv1 {
extern std::terminate_handler __terminate_handler;
std::terminate_handler __terminate_handler = std::abort;
} // namespace __cxxabiv1
