/** Events as they happen: named channels, lines for people, a file for Perfetto. */
export { checkTrace, checkTraceFile, type TraceSummary } from './check-trace.ts'
export { type MergedTrace, mergeTrace, removeTraceParts, traceParts } from './merge-trace.ts'
export { flushTrace, setTraceLevel, TraceChannel, traceChannel } from './trace-channel.ts'
export { identifyTrace, type TraceIdentity, traceClockNs } from './trace-identity.ts'
export { TraceLevel } from './trace-level.ts'
export type { TraceFields, TraceMessage, TraceSlice } from './trace-message.ts'
