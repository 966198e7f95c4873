/**
 * Counters and histograms in shared memory: the figures of every member can be read from outside while it runs.
 *
 * ```ts
 * import { defineCounters, Profile, threadProfile, threadProfiling } from 'aether-dsm/profiling'
 *
 * const reads = defineCounters('reads', ['operations', 'bytes'], { labelled: 'file' })
 * // In shared memory as soon as this thread is in a space.
 * const counters = threadProfiling().counters(reads, 'users.db')
 * const times = threadProfiling().histogram('reads.time')
 *
 * // Others: space.profile(member), group.profile(rank).
 * const before = threadProfile()
 * counters.add('operations', 1)
 * times.record(1250)
 * const since = threadProfile().since(before)
 * console.log(since.total('reads', 'operations'), since.histogram('reads.time').count) // prints 1 1
 * ```
 *
 * @module aether-dsm/profiling
 */
export {
  type CounterBlock,
  type CounterLayout,
  type CounterReading,
  defineCounters,
  defineHistogram,
  type Finding,
  type HistogramBlock,
  type HistogramReading,
  isProfiling,
  type MetricSource,
  metricsHandler,
  Profile,
  type ProfileJson,
  type ProfilingArea,
  prometheusText,
  setProfiling,
  setTraceLevel,
  TraceChannel,
  TraceLevel,
  type TraceMessage,
  threadProfile,
  threadProfiling,
  traceChannel,
  type WatchdogMessage,
} from '../profiling/index.ts'
