import { AetherError } from '../native/index.ts'
import { TraceLevel, traceChannel } from '../profiling/index.ts'
import { FailureCode } from './frame.ts'

/** The channel `aether:rpc`: methods and how calls end, never what is asked or answered, keys or metadata. */
const trace = traceChannel('rpc')

/** A call of either end that may be traced; 0: it is not. */
export interface TracedCall {
  traced: number
}

let count = 0

const failureNames = new Map(Object.entries(FailureCode).map(([name, code]) => [code as number, name]))

/** A FailureCode by its name. */
export const nameOfFailure = (code: number): string => failureNames.get(code) ?? String(code)

/** Whether calls are told of just now: the guard of hot paths. */
export const tracesCalls = (): boolean => trace.wants(TraceLevel.Debug)

/** A call begins: at the client when it is made, at the server when its request has come. */
export function traceCall(call: TracedCall, side: 'client' | 'server', method: string, id: number): void {
  count++
  call.traced = count
  const type = side === 'client' ? 'call' : 'serve'
  const slice = { phase: 'begin', name: method, track: trackOf(side), id: count } as const
  trace.publish(TraceLevel.Debug, type, () => ({ method, call: id }), slice)
}

/** It ends, with what ended it; undefined: with its answer. */
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
