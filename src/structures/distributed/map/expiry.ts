import { ReadCommand } from '../memory/command.ts'
import { HEAD_BYTES, readHead } from './entry.ts'
import { type FullSlot, isThere } from './slot.ts'

/** Entries besides its own that a write looks at. */
const LOOKED_AT = 2

/** Entries that a write looks at, by READs that go with a batch of its own. */
export interface PassedBy {
  readonly commands: readonly ReadCommand[]
  /** Once the commands have been carried out: those whose life is over. */
  over(nowMs: number): readonly FullSlot[]
}

/**
 * Removes entries whose life is over when an operation meets them. An expired entry that is never looked up would stay.
 * So each write also looks at the heads of two others in the buckets of its key. Sooner or later as many are removed as
 * are put.
 */
export class MapExpiry {
  readonly #random: () => number
  /** Nothing of this map that this rank has met had an end to its life. */
  #none = true

  constructor(random: () => number) {
    this.#random = random
  }

  /** An entry with this end of its life was met, or is put. */
  note(endOfLife: number): void {
    if (endOfLife !== 0) this.#none = false
  }

  /** Some of the entries in the buckets of a key, but not that of the key. */
  passBy(full: readonly FullSlot[], own: number | undefined): PassedBy {
    if (this.#none) return NOBODY
    const others = full.filter((slot) => isThere(slot) && slot.place !== own)
    const first = Math.floor(this.#random() * others.length)
    const slots = [...others.slice(first), ...others.slice(0, first)].slice(0, LOOKED_AT)
    const commands = slots.map(({ block }) => new ReadCommand(block.offset, HEAD_BYTES))
    return {
      commands,
      over: (nowMs) => slots.filter(({ block }, at) => isHeadOver(readHead(block, bytesOf(commands, at)), nowMs)),
    }
  }
}

const NOBODY: PassedBy = { commands: [], over: () => [] }

function bytesOf(commands: readonly ReadCommand[], at: number): Uint8Array {
  return commands[at]!.bytes
}

function isHeadOver(head: { readonly endOfLife: number } | undefined, nowMs: number): boolean {
  return head !== undefined && isOver(head, nowMs)
}

/** Whether its life is over. */
export function isOver({ endOfLife }: { readonly endOfLife: number }, nowMs: number): boolean {
  return endOfLife !== 0 && endOfLife <= nowMs
}
