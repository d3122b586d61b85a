#include "tests/fault/folder_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace sinew::testing {

FolderWatch::FolderWatch(const std::vector<std::filesystem::path>& folders)
    : fd_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  for (const std::filesystem::path& folder : folders) {
    ::inotify_add_watch(fd_, folder.c_str(),
                        IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE);
  }
}

FolderWatch::~FolderWatch() {
  ::close(fd_);
}

void FolderWatch::Await(unsigned changes, const std::function<bool()>& over) {
  while (seen_ < changes && !over()) {
    pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, 1) <= 0) continue;
    std::array<char, 1 << 14> events;
    const ssize_t got = ::read(fd_, events.data(), events.size());
    for (ssize_t at = 0; at < got; ++seen_) {
      inotify_event event;
      std::memcpy(&event, events.data() + at, sizeof event);
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
}

}  // namespace sinew::testing
