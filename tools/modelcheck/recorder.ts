import type { CoherenceMessage, NodePort, Right } from 'aether-dsm/internal/dsm'
import { frameOf, type MessageTable, ownerOfFrame } from './message-table.ts'
import type { Program } from './program.ts'
import { Violation } from './violation.ts'

/** What a step at one node does to the rest of the world. */
export type Effect =
  | { readonly do: 'send'; readonly to: number; readonly message: number; readonly pushed: number }
  | { readonly do: 'store'; readonly page: number }

/** What a coherence node asks of the world, written down. */
export class EffectRecorder implements NodePort {
  readonly #rank: number
  readonly #messages: MessageTable
  #program!: Program
  #effects: Effect[] = []
  /** Pushed to each rank since the last message to it, as a mask of pages. */
  readonly #pushed: number[] = []

  /** The page that is pinned when it is asked for the second time whether it must be held. */
  #pinsSoon: { readonly page: number; asked: boolean } | undefined

  constructor(rank: number, messages: MessageTable) {
    this.#rank = rank
    this.#messages = messages
  }

  begin(program: Program): void {
    this.#program = program
    this.#pinsSoon = undefined
    this.#effects = []
    this.#pushed.length = 0
  }

  end(): readonly Effect[] {
    const to = this.#pushed.findIndex((mask) => mask > 0)
    if (to >= 0) throw new Violation(`push: node ${this.#rank} wrote bytes to node ${to} and no message says so`)
    return this.#effects
  }

  /** The program pins a page as soon as one that waited for it has been served. */
  pinSoon(page: number): void {
    this.#pinsSoon = { page, asked: false }
  }

  stored(page: number): void {
    this.#effects.push({ do: 'store', page })
  }

  send(to: number, message: CoherenceMessage): void {
    const pushed = this.#pushed[to] ?? 0
    this.#pushed[to] = 0
    this.#effects.push({ do: 'send', to, message: this.#messages.idOf(message), pushed })
  }

  push(page: number, to: number, frame: { address: number; key: number }): void {
    const owner = ownerOfFrame(frame)
    if (owner?.node !== to || owner.page !== page)
      throw new Violation(`push: node ${this.#rank} writes page ${page} to node ${to}, but not into its frame there`)
    if (this.#program.may(page, true))
      throw new Violation(`push: node ${this.#rank} sends page ${page} while its program may still store to it`)
    this.#pushed[to] = (this.#pushed[to] ?? 0) | (1 << page)
  }

  ownFrame(page: number): { address: number; key: number } {
    this.#program.frames |= 1 << page
    return frameOf(this.#rank, page)
  }

  mapReadOnly(page: number): void {
    this.#program.map(page, 'read')
  }

  mapWritable(page: number): void {
    this.#program.map(page, 'write')
  }

  protect(page: number): void {
    this.#take(page, 'read')
  }

  unmap(page: number): void {
    this.#take(page, 'none')
  }

  evicted(page: number): void {
    this.#program.frames &= ~(1 << page)
    this.#program.evicting &= ~(1 << page)
    this.#program.evictions += 1
  }

  failed(page: number): void {
    this.#program.fail(page)
  }

  mustHold(page: number): boolean {
    if (this.#pinsSoon?.page === page) {
      if (this.#pinsSoon.asked && this.#program.may(page, false)) this.#program.pinned |= 1 << page
      this.#pinsSoon.asked = true
    }
    return this.#program.mustHold(page)
  }

  #take(page: number, left: Right): void {
    if (this.#program.isPinned(page))
      throw new Violation(`pin: page ${page} is taken from the program of node ${this.#rank}, which has pinned it`)
    this.#program.take(page, left)
  }

  isAlive(): boolean {
    return true
  }
}
