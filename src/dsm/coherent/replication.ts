import { encodePage } from './replica-channel.ts'

/**
 * Pages that are on their way at a time: each is copied once more while it is, and the mesh has other things to carry.
 */
const WINDOW = 64

export interface ReplicationOptions {
  readonly region: number
  readonly rank: number
  /** The living ranks that keep what is fenced of a page: its home and the next one. */
  readonly keepersOf: (page: number) => readonly number[]
  /** The home of a page while every member lived. */
  readonly homeOf: (page: number) => number
  /** A copy of the page's bytes as they are now. */
  readonly read: (page: number) => Uint8Array
  /** This rank is one of the keepers. */
  readonly keepHere: (page: number, bytes: Uint8Array) => void
  readonly send: (to: number, bytes: Uint8Array) => void
  /** What was to be saved of the page has been, somewhat later than it was asked for. */
  readonly onSafe: (page: number) => void
}

interface Save {
  readonly page: number
  readonly missing: Set<number>
}

/**
 * A holder's part in keeping what was last fenced. It knows which pages may have been written since, and sends them to
 * their keepers.
 *
 * A page does not leave its holder, nor is it shown to others, before its keepers have what was written here. So one
 * holder at a time sends a page, and what the keepers get from the next one is newer.
 */
export class Replication {
  readonly #options: ReplicationOptions
  /** May have been written since they were sent last. */
  readonly #unsaved = new Set<number>()
  /** Not acknowledged by all keepers, by token. */
  readonly #saves = new Map<number, Save>()
  /** Those of them that have not been sent, in their order. */
  readonly #queue = new Set<number>()
  /** How many of them are of each page. */
  readonly #saving = new Map<number, number>()
  /** Fences, with the tokens that each waits for. */
  readonly #fences = new Set<{ readonly tokens: Set<number>; readonly done: () => void }>()
  #nextToken = 1

  constructor(options: ReplicationOptions) {
    this.#options = options
  }

  /** The program may write the page from now on. */
  written(page: number): void {
    this.#unsaved.add(page)
  }

  isUnsaved(page: number): boolean {
    return this.#unsaved.has(page)
  }

  /** Pages that may have been written since they were sent last. */
  unsaved(): number[] {
    return [...this.#unsaved]
  }

  /** On its way to a keeper. */
  isSaving(page: number): boolean {
    return this.#saving.has(page)
  }

  /** The page is lost, or was taken away without a word. */
  forget(page: number): void {
    this.#unsaved.delete(page)
  }

  /**
   * Send the page to its keepers. `isStill`: no thread here can write it any more. If there are no other keepers, the
   * page is saved when this returns.
   */
  save(page: number, isStill: boolean): void {
    if (isStill) this.#unsaved.delete(page)
    const token = this.#nextToken++
    const save = { page, missing: new Set<number>() }
    const isFull = this.#isFull()
    if (!isFull) this.#tell(token, save)
    if (!isFull && save.missing.size === 0) return
    this.#saves.set(token, save)
    this.#saving.set(page, (this.#saving.get(page) ?? 0) + 1)
    if (isFull) this.#queue.add(token)
  }

  /** `done` is called when everything that is on its way now has arrived. */
  whenSaved(done: () => void): void {
    const tokens = new Set(this.#saves.keys())
    if (tokens.size === 0) done()
    else this.#fences.add({ tokens, done })
  }

  /** Rank `from` keeps what was sent with this token. */
  kept(from: number, token: number): void {
    const save = this.#saves.get(token)
    if (save?.missing.delete(from) !== true || save.missing.size > 0) return
    this.#finish(token, save)
    this.#sendSome()
  }

  /** Other ranks are the keepers now: what is on its way is sent to them. It is still here. */
  membersChanged(): void {
    for (const [token, save] of [...this.#saves]) {
      if (this.#queue.has(token)) continue
      save.missing.clear()
      this.#tellOrFinish(token, save)
    }
    this.#sendSome()
  }

  isQuiescent(): boolean {
    return this.#saves.size === 0
  }

  #isFull(): boolean {
    return this.#saves.size - this.#queue.size >= WINDOW
  }

  #sendSome(): void {
    for (const token of this.#queue) {
      if (this.#isFull()) return
      this.#queue.delete(token)
      this.#tellOrFinish(token, this.#saves.get(token)!)
    }
  }

  #tellOrFinish(token: number, save: Save): void {
    this.#tell(token, save)
    if (save.missing.size === 0) this.#finish(token, save)
  }

  #tell(token: number, { page, missing }: Save): void {
    const { region, rank, keepersOf, homeOf, read, keepHere, send } = this.#options
    const bytes = read(page)
    for (const keeper of keepersOf(page)) {
      if (keeper === rank) keepHere(page, bytes)
      else {
        missing.add(keeper)
        for (const part of encodePage('part', { region, page, token, home: homeOf(page), bytes })) send(keeper, part)
      }
    }
  }

  #finish(token: number, { page }: Save): void {
    this.#saves.delete(token)
    const others = this.#saving.get(page)! - 1
    if (others > 0) this.#saving.set(page, others)
    else this.#saving.delete(page)
    for (const fence of this.#fences) {
      fence.tokens.delete(token)
      if (fence.tokens.size > 0) continue
      this.#fences.delete(fence)
      fence.done()
    }
    if (!this.isSaving(page)) this.#options.onSafe(page)
  }
}
