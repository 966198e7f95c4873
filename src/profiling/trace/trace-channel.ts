import { type Channel, channel } from 'node:diagnostics_channel'
import process from 'node:process'
import { checkFunction, checkText, checkWhole } from '../../native/index.ts'
import { printError } from '../print-error.ts'
import { traceClockNs, traceIdentity } from './trace-identity.ts'
import { TraceLevel } from './trace-level.ts'
import { traceLine } from './trace-line.ts'
import type { TraceFields, TraceMessage, TraceSlice } from './trace-message.ts'
import { TracePart } from './trace-part.ts'
import { defaultLevel, traceSettings } from './trace-settings.ts'

/**
 * One room's trace: the diagnostics channel `aether:<room>`. With `AETHER_TRACE_<ROOM>=1` it also writes lines to
 * standard error, and with `AETHER_TRACE_FILE` a part of the trace file.
 *
 * Without subscribers, `wants` notices that and nothing else happens.
 */
export class TraceChannel {
  readonly name: string
  readonly #target: Channel

  /** @internal Made by {@link traceChannel}. */
  constructor(name: string, target: Channel) {
    this.name = name
    this.#target = target
  }

  /** True if there is a subscriber. */
  get enabled(): boolean {
    return this.#target.hasSubscribers
  }

  /** True if there is a subscriber and events of that level are reported. The guard of hot paths. */
  wants(level: TraceLevel): boolean {
    // The number first: by default, events of hot paths are finer than what is reported.
    return typeof level === 'number' && level <= most && this.#target.hasSubscribers
  }

  /**
   * Publish an event. `fields` is called only if it is wanted. It returns names and numbers, never bytes that a program
   * shares, keys or secrets.
   */
  publish(level: TraceLevel, type: string, fields?: () => TraceFields, slice?: TraceSlice): void {
    if (!this.wants(level)) return
    checkText('type', type)
    if (fields !== undefined) checkFunction('fields', fields, 'that returns names and numbers')
    const message: TraceMessage = {
      channel: this.name,
      level,
      timeNs: traceClockNs(),
      rank: traceIdentity().rank,
      type,
      fields: fields?.() ?? {},
      slice,
    }
    this.#target.publish(message)
  }
}

/** The finest level that is told in this thread: the finest that lines or file want. */
let most: TraceLevel = mostOf()
/** That of this thread, if any of its channels has made one. */
let part: TracePart | undefined
const channels = new Map<string, TraceChannel>()

/** Report events up to `level` in this thread, whatever `AETHER_TRACE_LEVEL` says. For programs that subscribe. */
export function setTraceLevel(level: TraceLevel): void {
  checkWhole('level', level, TraceLevel.Error, TraceLevel.Trace)
  most = level
}

/**
 * Return the trace of room `room`, in lower case. Rooms: those of `AETHER_TRACE_RDMA`, `AETHER_TRACE_CM`,
 * `AETHER_TRACE_MESSAGING`, `AETHER_TRACE_RPC`, `AETHER_TRACE_CLUSTER` and `AETHER_TRACE_DSM`.
 */
export function traceChannel(room: string): TraceChannel {
  checkText('room', room)
  const known = channels.get(room)
  if (known !== undefined) return known
  const target = channel(`aether:${room}`)
  const made = new TraceChannel(room, target)
  channels.set(room, made)
  if (process.env[`AETHER_TRACE_${room.toUpperCase()}`] === '1') target.subscribe(printLine)
  if (traceSettings().file !== undefined) target.subscribe(writeToPart)
  return made
}

/**
 * Hand this thread's buffered part of the trace file to the kernel. A thread without an event loop does so before it
 * sleeps. Costs nothing if there is nothing to write.
 */
export function flushTrace(): void {
  part?.flush()
}

/** End the part of this thread; further events start a new one. */
export function closeTracePart(): void {
  part?.close()
  part = undefined
}

function mostOf(): TraceLevel {
  const { level, file } = traceSettings()
  return level ?? (file === undefined ? defaultLevel.lines : defaultLevel.file)
}

function printLine(message: unknown): void {
  const event = message as TraceMessage
  const { level = defaultLevel.lines, filter } = traceSettings()
  if (event.level <= level && event.slice?.phase !== 'step' && filter?.(event) !== false) printError(traceLine(event))
}

function writeToPart(message: unknown): void {
  const event = message as TraceMessage
  // What began in the file ends there, whatever is wanted of ends.
  if (part?.takeEnd(event) === true) return
  const { level = defaultLevel.file, filter, file, fileBytesMax } = traceSettings()
  if (event.level > level || event.slice?.phase === 'start' || filter?.(event) === false) return
  if (part === undefined) {
    const made = new TracePart(file!, fileBytesMax)
    part = made
    process.on('exit', () => made.flush())
  }
  part.take(event)
}
