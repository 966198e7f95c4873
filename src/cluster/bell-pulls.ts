import { closeSync } from 'node:fs'
import { native } from '../native/index.ts'
import type { MemberTable } from './member-table.ts'
import type { Presence } from './presence.ts'

interface Pull {
  /** The state word of the slot: another one is another member, or none. */
  readonly word: number
  readonly descriptor: number
}

/**
 * Descriptors by which this member wakes others. One stays open from the first ring of its member until that has ended:
 * to open it takes several times as long as to ring.
 */
export class BellPulls {
  readonly #table: MemberTable
  readonly #presence: Pick<Presence, 'openBell'>
  readonly #bySlot = new Map<number, Pull>()

  constructor(table: MemberTable, presence: Pick<Presence, 'openBell'>) {
    this.#table = table
    this.#presence = presence
  }

  /** Wake the member in `slot`. If there is none, or it has ended, nothing happens. */
  ring(slot: number): void {
    let pull = this.#bySlot.get(slot)
    if (pull?.word !== this.#table.wordOf(slot)) pull = this.#open(slot)
    if (pull !== undefined && native.ringPipe(pull.descriptor) < 0) this.forget(slot)
  }

  /** The same for one that is hardly ever rung: nothing is kept for it. */
  ringOnce(slot: number): void {
    const isKept = this.#bySlot.has(slot)
    this.ring(slot)
    if (!isKept) this.forget(slot)
  }

  /** The member of the slot has ended. */
  forget(slot: number): void {
    const pull = this.#bySlot.get(slot)
    if (pull === undefined) return
    this.#bySlot.delete(slot)
    closeSync(pull.descriptor)
  }

  close(): void {
    for (const slot of [...this.#bySlot.keys()]) this.forget(slot)
  }

  #open(slot: number): Pull | undefined {
    this.forget(slot)
    const word = this.#table.wordOf(slot)
    const record = this.#table.read(slot)
    const descriptor = record && this.#presence.openBell(record)
    if (descriptor === undefined) return undefined
    const pull = { word, descriptor }
    this.#bySlot.set(slot, pull)
    return pull
  }
}
