// browser.h - opens a link in the user's browser.
#pragma once

#include <sys/types.h>

#include <string>

namespace sinew::cli {

// The link, which may have a secret, reaches the browser in a file that only this user can read:
// the arguments of a process are public. The file is removed with the object.
class Browser {
 public:
  // Whether someone sits in front of a display: there is one, and stdout is a terminal.
  static bool HasUser();

  // Starts xdg-open. Nothing happens where there is none.
  explicit Browser(const std::string& link);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

 private:
  std::string folder_;
  pid_t process_ = -1;
};

}  // namespace sinew::cli
