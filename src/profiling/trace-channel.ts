import { channel } from 'node:diagnostics_channel'
import { writeSync } from 'node:fs'
import process from 'node:process'
import { threadId } from 'node:worker_threads'

/** How much is told: errors, events of some weight, every operation. */
export const TraceLevel = { Error: 1, Event: 2, Detail: 3 } as const
export type TraceLevel = (typeof TraceLevel)[keyof typeof TraceLevel]

/** What subscribers of a trace channel get. */
export interface TraceMessage {
  readonly level: TraceLevel
  readonly type: string
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * One room's trace: the diagnostics channel `aether:<room>`, and lines on standard error where `AETHER_TRACE_<ROOM>=1` is set
 * (`AETHER_TRACE_LEVEL`, 1 to 3, default 2, says how much). Costs a few nanoseconds where nobody listens.
 */
export interface TraceChannel {
  /** True where somebody listens: a guard for hot paths that would build something only to say it. */
  readonly enabled: boolean
  /** `fields` is called only where somebody listens. */
  publish(level: TraceLevel, type: string, fields?: () => Readonly<Record<string, unknown>>): void
}

/** The trace of room `room`, in lower case. */
export function traceChannel(room: string): TraceChannel {
  const target = channel(`aether:${room}`)
  if (process.env[`AETHER_TRACE_${room.toUpperCase()}`] === '1') target.subscribe(printer(room))
  return {
    get enabled(): boolean {
      return target.hasSubscribers
    },
    publish(level, type, fields) {
      if (target.hasSubscribers) target.publish({ level, type, fields: fields?.() ?? {} } satisfies TraceMessage)
    },
  }
}

/** Writes straight to the descriptor: in a Worker `console` goes through the main thread, which may be waiting for this very Worker. */
function printer(room: string): (message: unknown) => void {
  const most = Number(process.env['AETHER_TRACE_LEVEL'] ?? TraceLevel.Event)
  return (message) => {
    const { level, type, fields } = message as TraceMessage
    if (level > most) return
    const text = JSON.stringify(fields, (_key, value) => (typeof value === 'bigint' ? String(value) : value))
    writeSync(2, `aether:${room} [${process.pid}.${threadId}] ${type} ${text}\n`)
  }
}
