import { Buffer } from 'node:buffer'
import type { Call } from '../state/shard-command.ts'

/** A call that took long. */
export interface SlowEntry {
  readonly id: number
  /** When it ended. */
  readonly timeMs: number
  readonly usec: number
  /** The name of the command, and its arguments. */
  readonly args: readonly Uint8Array[]
  /** Where its client is. */
  readonly address: string
  readonly clientName: string
}

/** Of an entry, as Redis keeps them: arguments with the name, and bytes of each. */
const ARGS_MAX = 32
const ARGUMENT_BYTES_MAX = 128

export const DEFAULT_SLOWER_THAN_US = 10_000
const DEFAULT_SLOW_MAX = 128

/**
 * The last calls of a node that took long, the latest first: from when they came until they were answered. Clients of
 * Redis and of `connectIndex` share it.
 */
export class SlowLog {
  /** What takes at least as long is kept; negative: nothing is. */
  slowerThanUs: number
  #max = DEFAULT_SLOW_MAX
  #entries: SlowEntry[] = []
  #count = 0

  constructor(slowerThanUs: number = DEFAULT_SLOWER_THAN_US) {
    this.slowerThanUs = slowerThanUs
  }

  get entries(): readonly SlowEntry[] {
    return this.#entries
  }

  /** How many calls took long, with those that are no longer kept. */
  get count(): number {
    return this.#count
  }

  /** How many are kept. */
  get max(): number {
    return this.#max
  }

  set max(max: number) {
    this.#max = max
    this.#trim()
  }

  isSlow(usec: number): boolean {
    return usec >= this.slowerThanUs && this.slowerThanUs >= 0
  }

  add(entry: Omit<SlowEntry, 'id'>): void {
    this.#entries.unshift({ ...entry, id: this.#count, args: cutArguments(entry.args) })
    this.#count += 1
    this.#trim()
  }

  /** Calls of one client ended, which were run together. */
  ended(calls: readonly Call[], tookMs: number, address: string): void {
    const usec = Math.round(tookMs * 1000)
    const [first] = calls
    if (first === undefined || !this.isSlow(usec)) return
    const more = calls.length === 1 ? [] : [Buffer.from(`... (${calls.length - 1} more commands)`)]
    const args = [Buffer.from(first.name.toUpperCase()), ...first.args, ...more]
    this.add({ timeMs: Date.now(), usec, args, address, clientName: '' })
  }

  reset(): void {
    this.#entries = []
  }

  #trim(): void {
    if (this.#entries.length > this.#max) this.#entries.length = this.#max
  }
}

function cutArguments(args: readonly Uint8Array[]): readonly Uint8Array[] {
  if (args.length <= ARGS_MAX) return args.map(cutArgument)
  const kept = args.slice(0, ARGS_MAX - 1).map(cutArgument)
  return [...kept, Buffer.from(`... (${args.length - kept.length} more arguments)`)]
}

/** As memory of its own: an argument is a view of what was received. */
function cutArgument(argument: Uint8Array): Uint8Array {
  if (argument.length <= ARGUMENT_BYTES_MAX) return Uint8Array.from(argument)
  const more = Buffer.from(`... (${argument.length - ARGUMENT_BYTES_MAX} more bytes)`)
  return Buffer.concat([argument.subarray(0, ARGUMENT_BYTES_MAX), more])
}
