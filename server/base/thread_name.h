// thread_name.h - what `top -H`, /proc and debuggers call a thread.
#pragma once

#include <pthread.h>

namespace sinew::server {

// Names the calling thread; the operating system keeps 15 letters.
inline void NameThread(const char* name) {
  ::pthread_setname_np(::pthread_self(), name);
}

}  // namespace sinew::server
