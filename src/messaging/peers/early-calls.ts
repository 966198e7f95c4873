import { type Frame, FrameKind } from './frame.ts'

/** What came for a collective that this rank has not called yet. */
export interface EarlyCall {
  readonly rank: number
  /** The kind of its frame. */
  readonly kind: number
  readonly signature: number
  readonly amount: number
  readonly bytes: Uint8Array
}

/**
 * What the other ranks of a group say of collectives that this rank has not called yet. For each collective it keeps
 * what a rank that obeys the rules can say.
 *
 * 1. Bytes do not come from a rank that is ahead by much more than `requestsMax`.
 * 2. A rank can finish any number of calls in which nothing goes from one to the other. So what it waits for may be
 *    anywhere ahead.
 * 3. It grants room for its bytes in at most `requestsMax` collectives, since it cannot finish these. It announces the
 *    last collective that it waits for.
 */
export class EarlyCalls {
  readonly #eagerBytes: number
  readonly #requestsMax: number
  /** By sequence. */
  readonly #calls = new Map<number, EarlyCall[]>()
  /** In how many of them there is a grant of each rank. */
  readonly #grants = new Map<number, number>()
  /** What each rank has announced last. */
  readonly #announced = new Map<number, number>()

  constructor(limits: { readonly eagerBytes: number; readonly requestsMax: number }) {
    this.#eagerBytes = limits.eagerBytes
    this.#requestsMax = limits.requestsMax
  }

  /** `ahead`: how far behind the next call here. Returns false for what a rank that obeys the rules does not say. */
  keep(rank: number, sequence: number, ahead: number, frame: Frame, bytes: Uint8Array): boolean {
    const { kind, signature, amount } = frame
    const list = this.#calls.get(sequence) ?? []
    const before = list.filter((early) => early.rank === rank && early.kind === kind)
    if (kind === FrameKind.Data) {
      const held = before.reduce((sum, early) => sum + early.bytes.length, 0)
      // Valid data frames are not empty; each would take room.
      if (bytes.length === 0 || ahead > 2 * this.#requestsMax || held + bytes.length > this.#eagerBytes) return false
    } else {
      // Of these the last one says it all.
      for (const early of before) list.splice(list.indexOf(early), 1)
      if (kind === FrameKind.Announce) this.#announceAnew(rank, sequence)
      else if (before.length === 0 && !this.#countGrant(rank)) return false
    }
    list.push({ rank, kind, signature, amount, bytes })
    this.#calls.set(sequence, list)
    return true
  }

  /** Everything that was said of a collective, which is called now. */
  take(sequence: number): readonly EarlyCall[] {
    const list = this.#calls.get(sequence)
    if (list === undefined) return []
    this.#calls.delete(sequence)
    for (const { rank, kind } of list) {
      if (kind === FrameKind.Grant) this.#grants.set(rank, this.#grants.get(rank)! - 1)
      else if (kind === FrameKind.Announce) this.#announced.delete(rank)
    }
    return list
  }

  clear(): void {
    this.#calls.clear()
  }

  /** What a rank has announced before is over there. */
  #announceAnew(rank: number, sequence: number): void {
    const last = this.#announced.get(rank)
    this.#announced.set(rank, sequence)
    const list = last === undefined || last === sequence ? undefined : this.#calls.get(last)
    if (list === undefined) return
    const left = list.filter((early) => early.rank !== rank || early.kind !== FrameKind.Announce)
    if (left.length > 0) this.#calls.set(last!, left)
    else this.#calls.delete(last!)
  }

  #countGrant(rank: number): boolean {
    const count = (this.#grants.get(rank) ?? 0) + 1
    this.#grants.set(rank, count)
    return count <= this.#requestsMax
  }
}
