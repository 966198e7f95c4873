// What ends the process where the C++ library throws, of memory that is not there above all. The library's own handler
// names the exception, and brings a demangler that is larger than all else of the library. Only prebuilt addons have
// the library within, so that this one takes its place.
#include <unistd.h>

#include <cstdlib>
#include <exception>

namespace aether {

static void endProcess() {
  static const char message[] = "aether-dsm: the addon cannot go on, most likely for want of memory\n";
  if (write(STDERR_FILENO, message, sizeof message - 1) < 0) abort();
  abort();
}

}  // namespace aether

namespace __cxxabiv1 {
extern std::terminate_handler __terminate_handler;
std::terminate_handler __terminate_handler = aether::endProcess;
}  // namespace __cxxabiv1
