/**
 * Counting in shared memory, so that every figure of every member can be read from outside while it runs.
 *
 * ```ts
 * import { defineCounters, Profile, ProfilingArea } from 'aether-dsm/profiling'
 *
 * const memory = new SharedArrayBuffer(65_536)          // a space gives each member such an area
 * const area = new ProfilingArea(memory)
 * const reads = area.counters(defineCounters('reads', ['operations', 'bytes']))
 * const times = area.histogram('reads.ns')
 *
 * const before = Profile.read(memory)
 * reads.add('operations', 1)
 * times.record(1250)
 * Profile.read(memory).since(before).counters()         // [{ name: 'reads', thread: 0, values: { operations: 1, bytes: 0 } }]
 * ```
 *
 * @module
 */
export { CounterBlock, privateCounters } from './counter-block.ts'
export { COUNTERS_MAX, type CounterLayout, defineCounters, findLayout } from './counter-layout.ts'
export { HistogramBlock, type HistogramSummary, privateHistogram } from './histogram-block.ts'
export { type CounterReading, type HistogramReading, Profile } from './profile.ts'
export { PROFILING_AREA_BYTES, ProfilingArea } from './profiling-area.ts'
export { type TraceChannel, TraceLevel, type TraceMessage, traceChannel } from './trace-channel.ts'
