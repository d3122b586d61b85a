// bounds.h - what a run must not exceed, and why.
#pragma once

namespace sinew::testing::bounds {

// Time targets of the server: short work passes long work.
inline constexpr double kShortBindSeconds = 1;     // beside ComputeWeights and four long binds
inline constexpr double kGetRigMilliseconds = 20;  // p99, beside 60 estimates
inline constexpr double kOpenMilliseconds = 100;   // of a stream, beside frames of seconds
inline constexpr double kLongFrameSeconds = 5;     // those frames take at least this long
inline constexpr double kQueuedBinds = 0;          // after 64 sessions were created and deleted
inline constexpr double kExitCode = 0;             // after SIGTERM

// p99 over p50 of round trips, with and without binds: an artist sees a late frame, not a mean.
inline constexpr double kTailRatio = 3;

// Growth of memory: 256 kB a minute would be 1 byte for every fourth frame of a thousand a second,
// or 2 kB for each bind, upload and look-up of one. Resident memory after the warm-up, as the slope
// of a line through one sample a second, may grow by a fixed part more over the measured time,
// since free memory moves between the allocator's arenas. Allocated memory, once all was deleted
// and pools were given back, may exceed that before the load by a fixed part more: connections,
// tables and the caches of threads held 2.4 MB after a minute with 1,000 sessions and 200 streams.
inline constexpr double kMemorySlope = 256;  // kB/min
inline constexpr double kResidentNoiseKilobytes = 8 * 1024;
inline constexpr double kLeftKilobytes = 4 * 1024;
inline constexpr double kGivenBackSeconds = 70;  // trim-seconds, and some

// Threads and open files after the warm-up vary with the calls in progress: each of the programs
// that changes rigs and sessions has one, and a gRPC callback thread may start or end.
inline constexpr double kMoreThreads = 8;
inline constexpr double kMoreFiles = 8;

// Fewest over most frames, of streams with the same recipe and rig size. The server promises no
// share, but each of its queues is first come, first served for streams of one client, so streams
// of the same cost differ only by when their connections and client threads get a core.
inline constexpr double kFairness = 0.5;

}  // namespace sinew::testing::bounds
