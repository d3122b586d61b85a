// wait_until.h - waits for an event that another thread or process causes.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace sinew::testing {

// Calls step() until done() is true. Fails the test after a minute, far longer than any event
// takes, so that a lost event is an error with a line and not the time limit of the whole suite.
template <class Done, class Step>
void WaitUntil(const Done& done, const Step& step) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the awaited event did not happen";
    step();
  }
}

template <class Done>
void WaitUntil(const Done& done) {
  WaitUntil(done, [] { std::this_thread::yield(); });
}

}  // namespace sinew::testing
