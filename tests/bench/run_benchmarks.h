// run_benchmarks.h - the main function of the programs written with Google Benchmark.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace sinew::bench {

// Runs what is registered, as names of the form "GROUP/CASE": tests/bench/tables.py makes a table
// of each group. By default the repetitions of all benchmarks take turns in random order and only
// aggregates, medians among them, are reported; arguments of the command line override this.
inline int RunBenchmarks(int argc, char** argv, int repetitions) {
  std::vector<std::string> words = {argv[0], "--benchmark_enable_random_interleaving=true",
                                    "--benchmark_report_aggregates_only=true",
                                    "--benchmark_min_time=0.05",
                                    "--benchmark_repetitions=" + std::to_string(repetitions)};
  words.insert(words.end(), argv + 1, argv + argc);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 64;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

// The time of one of `count` things that every iteration handles, in nanoseconds.
inline benchmark::Counter NanosecondsEach(std::size_t count) {
  return {static_cast<double>(count) * 1e-9,
          benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert};
}

}  // namespace sinew::bench
