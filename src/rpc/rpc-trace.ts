import { AetherError } from '../native/index.ts'
import { TraceLevel, traceChannel } from '../profiling/index.ts'
import { FailureCode } from './frame.ts'

/** The channel `aether:rpc`: methods and how calls end, never what is asked or answered, keys or metadata. */
const trace = traceChannel('rpc')

/** A call of either end that may be traced; 0 if it is not. */
export interface TracedCall {
  traced: number
}

let count = 0

const failureNames = new Map(Object.entries(FailureCode).map(([name, code]) => [code as number, name]))

/** The name of a FailureCode. */
export const nameOfFailure = (code: number): string => failureNames.get(code) ?? String(code)

/** True if calls are traced now: the guard of hot paths. */
export const tracesCalls = (): boolean => trace.wants(TraceLevel.Debug)

/**
 * Which call of which connection that is, as both ends say it: the server's incarnation is its own among all, and the
 * number with which a client greets it is drawn.
 */
const flowOf = (incarnation: number, greeting: number, id: number): string =>
  `call ${incarnation.toString(36)} ${greeting.toString(36)} ${id}`

/** The client makes a call. */
export function traceCall(call: TracedCall, method: string, id: number, incarnation: number, greeting: number): void {
  count += 1
  call.traced = count
  const flow = flowOf(incarnation, greeting, id)
  const slice = { phase: 'begin', name: method, track: trackOf('client'), id: count, flow } as const
  trace.publish(TraceLevel.Debug, 'call', () => ({ method, call: id }), slice)
}

/** The call's request has come to the server. */
export function traceServing(
  call: TracedCall,
  method: string,
  id: number,
  incarnation: number,
  greeting: number,
): void {
  count += 1
  call.traced = count
  const answers = flowOf(incarnation, greeting, id)
  const slice = { phase: 'begin', name: method, track: trackOf('server'), id: count, answers } as const
  trace.publish(TraceLevel.Debug, 'serve', () => ({ method, call: id }), slice)
}

/** The call ends, with an error, or undefined for an answer. */
export function traceCallEnd(
  call: TracedCall,
  side: 'client' | 'server',
  method: string,
  id: number,
  error?: unknown,
): void {
  const slice = { phase: 'end', track: trackOf(side), id: call.traced } as const
  call.traced = 0
  const type = side === 'client' ? 'returned' : 'answered'
  const level = error === undefined ? TraceLevel.Debug : TraceLevel.Warn
  trace.publish(level, type, () => ({ method, call: id, code: error === undefined ? 'OK' : codeOf(error) }), slice)
}

const trackOf = (side: 'client' | 'server'): string => (side === 'client' ? 'calls' : 'handlers')

function codeOf(error: unknown): string {
  if (error instanceof AetherError) return error.code
  if (typeof error === 'string') return error
  return error instanceof Error ? error.name : 'Error'
}
