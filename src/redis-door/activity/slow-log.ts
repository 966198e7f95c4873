import { Buffer } from 'node:buffer'

/** A command that took long. */
export interface SlowEntry {
  readonly id: number
  readonly timeMs: number
  readonly usec: number
  readonly args: readonly Uint8Array[]
  readonly address: string
  readonly clientName: string
}

/** Of an entry, as Redis keeps them: arguments with the name, and bytes of each. */
const ARGS_MAX = 32
const ARGUMENT_BYTES_MAX = 128

/** The last commands that took long, the latest first. */
export class SlowLog {
  #entries: SlowEntry[] = []
  #lastId = -1

  get entries(): readonly SlowEntry[] {
    return this.#entries
  }

  add(entry: Omit<SlowEntry, 'id'>, max: number): void {
    this.#lastId += 1
    this.#entries.unshift({ ...entry, id: this.#lastId, args: cutArguments(entry.args) })
    this.trim(max)
  }

  trim(max: number): void {
    if (this.#entries.length > max) this.#entries.length = max
  }

  reset(): void {
    this.#entries = []
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
