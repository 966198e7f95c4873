/**
 * The door of this room for other rooms: counters, histograms, traces, waits. Users import `src/public/profiling.ts`.
 */
export { Block, type BlockOwner, type BlockPlace } from './block.ts'
export type { BlockReading, CounterReading, HistogramReading } from './block-reading.ts'
export { CounterBlock, privateCounters } from './counter-block.ts'
export {
  COUNTERS_MAX,
  type CounterLayout,
  type CounterOptions,
  defineCounters,
  defineHistogram,
  findLayout,
  knownLayouts,
} from './counter-layout.ts'
export type { Finding } from './finding.ts'
export {
  HistogramBlock,
  type HistogramSummary,
  type OccupiedBucket,
  occupiedBuckets,
  privateHistogram,
} from './histogram-block.ts'
export { metricsHandler } from './metrics-handler.ts'
export { printError } from './print-error.ts'
export { Profile } from './profile.ts'
export type { CountersJson, HistogramJson, ProfileJson } from './profile-json.ts'
export { PROFILING_AREA_BYTES, ProfilingArea } from './profiling-area.ts'
export { type MetricSource, prometheusText } from './prometheus.ts'
export { nextTimed, SAMPLED_OF, TIMED_FIRST } from './sampling.ts'
export { isProfiling, setProfiling, shareThreadProfiling, threadProfile, threadProfiling } from './thread-profiling.ts'
export {
  checkTrace,
  checkTraceFile,
  flushTrace,
  identifyTrace,
  type MergedTrace,
  mergeTrace,
  removeTraceParts,
  setTraceLevel,
  TraceChannel,
  type TraceFields,
  type TraceIdentity,
  TraceLevel,
  type TraceMessage,
  type TraceSlice,
  type TraceSummary,
  traceChannel,
  traceClockNs,
  traceParts,
} from './trace/index.ts'
export {
  BackOff,
  cycleInWords,
  durationInWords,
  findCycle,
  type KeyedWait,
  type MemberWaits,
  monotonicNow,
  placeWaits,
  printLine,
  publishWatchdog,
  type TimedWait,
  WAIT_TABLE_BYTES,
  WATCHDOG_VARIABLE,
  type Wait,
  type WaitDescription,
  type WaitEdges,
  type WaitKind,
  type WaitReading,
  type WaitSource,
  WaitTable,
  type WatchdogMessage,
  type WatchdogTimes,
  WatchedWait,
  waitInWords,
  watchdogTimes,
  watchWaits,
} from './waits/index.ts'
