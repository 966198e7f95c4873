import { closeSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { ArgumentError, isEnding } from '../../native/index.ts'
import { EVENTS_END } from './check-trace.ts'
import { closeTracePart, flushTrace } from './trace-channel.ts'
import { lineNumber, THREAD_LINE, type TraceEvent } from './trace-event.ts'
import { CAUSED, TraceFlows } from './trace-flows.ts'
import { HEAD_BYTES, PART_VERSION, type PartHead } from './trace-part.ts'
import { wholeLines } from './trace-reading.ts'

/** What a trace file was made from. */
export interface MergedTrace {
  readonly processes: number
  readonly events: number
  /** Arrows from a cause to what it caused; return arrows are not counted. */
  readonly flows: number
  /** Events that are missing because a thread's part was full. */
  readonly dropped: number
  /** Slices that are missing because too much of their thread was under way. */
  readonly crowded: number
  /**
   * Processes that are still writing. All parts then stay, so that merging again after their end makes the complete
   * file.
   */
  readonly writing: number
}

const WRITE_BYTES = 65_536

/** Return the parts that threads have written for `file`, ordered by name. */
export function traceParts(file: string): string[] {
  const directory = dirname(file)
  const prefix = `${basename(file)}.`
  const names = readdirSync(directory).filter(
    (name) => name.startsWith(prefix) && /^\d+\.\d+\.part$/.test(name.slice(prefix.length)),
  )
  return names.sort().map((name) => join(directory, name))
}

/** Remove the parts of an earlier run, so that they do not get into the file of the next. */
export function removeTraceParts(file: string): void {
  for (const part of traceParts(file)) rmSync(part, { force: true })
}

/**
 * Merge the parts of `file` into that file, for Perfetto or chrome://tracing. Removes the parts if all their writers
 * have ended. The calling process counts as ended: what it traces afterwards starts a new part. Each part is read
 * twice, line by line: first for what started, then for what that caused. Unreadable text is left out, such as the last
 * line of a process that was killed.
 * @throws ArgumentError if there is no part; errors of the file system.
 */
export function mergeTrace(file: string): MergedTrace {
  flushTrace()
  const parts = traceParts(file)
  const writing = writersOf(parts)
  if (parts.length === 0)
    throw new ArgumentError(
      'file',
      `there is no part of the trace ${file}; run the program with AETHER_TRACE_FILE=${file} first`,
    )
  const flows = new TraceFlows()
  /** The last word on each name. */
  const names = new Map<string, TraceEvent>()
  /** By number of process, a line of one of its threads. */
  const processes = new Map<number, number>()
  let dropped = 0
  let crowded = 0
  const onHead = (head: PartHead, line: number): void => {
    processes.set(head.processId, line)
    dropped += head.dropped
    crowded += head.crowded
  }
  for (const [index, part] of parts.entries()) {
    for (const event of partEvents(part, index, onHead)) {
      if (event.ph === 'M') names.set(nameKey(event), event)
      else flows.begin(event)
    }
  }
  flows.sort()
  // Not every thread of a rank knows that it is one.
  for (const [pid, tid] of processes) {
    const event: TraceEvent = { name: 'process_name', ph: 'M', pid, tid, args: { name: `process ${pid}` } }
    if (!names.has(nameKey(event))) names.set(nameKey(event), event)
  }
  const temporary = `${file}.merging`
  const output = new EventWriter(temporary, { clock: 'CLOCK_MONOTONIC', dropped, crowded })
  for (const event of names.values()) output.add(event)
  for (const [index, part] of parts.entries()) {
    for (const event of partEvents(part, index)) {
      if (event.ph === 'M') continue
      flows.join(event)
      output.add(event)
    }
  }
  const events = output.count - names.size
  for (const event of flows.arrows()) output.add(event)
  const arrows = output.flows
  output.close()
  renameSync(temporary, file)
  if (writing === 0) {
    closeTracePart()
    for (const part of parts) rmSync(part)
  }
  return { processes: processes.size, events, flows: arrows, dropped, crowded, writing }
}

/** Of a process one name, whichever of its threads tells it. */
const nameKey = ({ name = '', pid, tid }: TraceEvent): string =>
  name.startsWith('process') ? `${name} ${pid}` : `${name} ${tid}`

/**
 * How many processes go on writing parts, besides the calling one. Asked before anything is read: who has ended by then
 * has written all.
 */
function writersOf(parts: readonly string[]): number {
  const processes = new Set(parts.map((part) => Number(part.split('.').at(-3))))
  processes.delete(process.pid)
  return [...processes].filter((processId) => !isEnding(processId)).length
}

/** The events of the part that is `index`th of all, with their numbers in the file. */
function* partEvents(
  part: string,
  index: number,
  onHead?: (head: PartHead, line: number) => void,
): Generator<TraceEvent, void> {
  let first = true
  for (const line of wholeLines(part)) {
    const said = parsed(line)
    if (first) {
      first = false
      if (line.length !== HEAD_BYTES - 1 || said?.['aetherTracePart'] !== PART_VERSION)
        throw new ArgumentError('file', `${part} is not a part of a trace of this version; remove it`)
      onHead?.(said as unknown as PartHead, lineNumber(index, THREAD_LINE))
    } else if (said !== undefined) {
      const event = said as unknown as TraceEvent
      yield { ...event, tid: lineNumber(index, event.tid) }
    }
  }
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** Writes the JSON object form of the format, an event a line. */
class EventWriter {
  readonly #descriptor: number
  #text: string
  count = 0
  /** How many flows lead from a cause. */
  flows = 0

  constructor(path: string, said: Readonly<Record<string, unknown>>) {
    this.#descriptor = openSync(path, 'w', 0o600)
    this.#text = `{"displayTimeUnit":"ns","otherData":${JSON.stringify(said)},"traceEvents":[`
  }

  add(event: TraceEvent): void {
    this.#text += `${this.count === 0 ? '' : ','}\n${JSON.stringify(event)}`
    this.count += 1
    if (event.ph === 's' && event.name === CAUSED) this.flows += 1
    if (this.#text.length >= WRITE_BYTES) this.#write()
  }

  close(): void {
    this.#text += `\n${EVENTS_END}\n`
    this.#write()
    closeSync(this.#descriptor)
  }

  #write(): void {
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at)
  }
}
