// standard_streams.h - keeps files of a program away from the numbers of its standard streams.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace sinew {

// Call it first in main. A standard stream that the parent has closed (`2>&-`) is opened on
// /dev/null: otherwise the next file that is opened would get its number, and with it what is
// printed. Input is empty, errors are dropped, and writing output fails, as it would have before.
inline void OpenStandardStreams() {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file) {
    if (::fcntl(file, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number, which is `file`.
    if (::open("/dev/null", file == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

}  // namespace sinew
