import type { PageFrame, PartFrame, RecordingFrame } from '../src/dashboard/wire.ts'
import type { Feed } from './feed.ts'
import { ask, type Source } from './source.ts'

/** How much is played before the target of a seek, so that charts have a history. */
const PAST_MS = 20_000
/** The maximum number of parts for that, however short they claim to be. */
const PAST_PARTS = 64
const KEPT_MAX = 48
export const SPEEDS: readonly number[] = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16]

/** Plays a recording. It requests parts as they are needed. */
export class SessionReplay implements Source {
  readonly facts: RecordingFrame
  readonly #feed: Feed
  readonly #parts = new Map<number, Promise<PartFrame | undefined>>()
  isPlaying = true
  speed = 1
  /** Milliseconds from the start. */
  atMs = 0
  onChange: () => void = () => {}
  #queue: PartFrame['messages'] = []
  #next = 0
  #at = 0
  #lastMs = 0
  #seeks = 0
  readonly #whole: ReadonlySet<number>
  /** Why parts could not be read, by number. */
  readonly #damaged = new Map<number, string>()
  #isLoading = false

  constructor(feed: Feed, facts: RecordingFrame) {
    this.#feed = feed
    this.facts = facts
    this.#whole = new Set(facts.whole)
  }

  /** Damage since the last full state. Until the next full state, the display may be wrong. */
  get damage(): string | undefined {
    let number = this.#partAt(this.atMs)
    while (number > 0 && !this.#damaged.has(number) && !this.#whole.has(number)) number -= 1
    return this.#damaged.get(number)
  }

  choose(): void {
    void this.seek(this.atMs)
  }

  askPage(region: string, page: number): Promise<PageFrame | undefined> {
    return ask(
      `/page?${new URLSearchParams({ region, page: String(page), at: String(Math.ceil(this.atMs)) }).toString()}`,
    )
  }

  clockMs(): number {
    return this.atMs
  }

  play(isPlaying: boolean = !this.isPlaying): void {
    this.isPlaying = isPlaying
    if (isPlaying && this.atMs >= this.facts.lengthMs) void this.seek(0)
    this.onChange()
  }

  setSpeed(speed: number): void {
    this.speed = speed
    this.onChange()
  }

  /** Go to a position, as if everything before it had been played. */
  async seek(toMs: number): Promise<void> {
    const seek = ++this.#seeks
    const to = Math.max(0, Math.min(this.facts.lengthMs, toMs))
    this.atMs = to
    this.#isLoading = true
    this.onChange()
    const last = this.#partAt(to)
    const past = Math.max(this.#partAt(Math.max(0, to - PAST_MS)), last - PAST_PARTS)
    const first = this.facts.whole.findLast((number) => number <= past) ?? 0
    const wanted = Array.from({ length: last - first + 1 }, (_, index) => this.#part(first + index))
    const parts = await Promise.all(wanted)
    if (seek !== this.#seeks) return
    this.#feed.forget()
    this.#queue = parts.flatMap((part) => part?.messages ?? [])
    for (const [index, part] of parts.entries()) this.#heed(first + index, part)
    this.#at = 0
    this.#next = last + 1
    this.#isLoading = false
    this.#feed.connected = true
    this.#playUntil(to)
    this.#feed.onFrame()
    this.onChange()
  }

  tick(nowMs: number): void {
    const elapsed = Math.min(250, nowMs - this.#lastMs)
    this.#lastMs = nowMs
    if (!this.isPlaying || this.#isLoading) return
    const to = Math.min(this.facts.lengthMs, this.atMs + elapsed * this.speed)
    const needed = this.#partAt(to)
    if (needed >= this.#next) {
      void this.#load(this.#next)
      return
    }
    if (needed + 2 < this.facts.parts.length) void this.#part(needed + 2)
    if (this.#next <= needed + 1 && this.#next < this.facts.parts.length) void this.#load(this.#next)
    this.atMs = to
    if (this.#playUntil(to)) this.#feed.onFrame()
    if (to >= this.facts.lengthMs) this.isPlaying = false
    this.onChange()
  }

  /** Play up to a position. Returns whether there was anything new. */
  #playUntil(toMs: number): boolean {
    let isNew = false
    for (; this.#at < this.#queue.length && this.#queue[this.#at]!.atMs <= toMs; this.#at += 1) {
      this.#feed.take(this.#queue[this.#at]!)
      isNew = true
    }
    return isNew
  }

  async #load(number: number): Promise<void> {
    const seek = this.#seeks
    this.#isLoading = true
    const part = await this.#part(number)
    if (seek !== this.#seeks) return
    this.#isLoading = false
    this.#queue = [...this.#queue.slice(this.#at), ...(part?.messages ?? [])]
    this.#at = 0
    this.#next = number + 1
    this.#heed(number, part)
  }

  #heed(number: number, part: PartFrame | undefined): void {
    const damage =
      part === undefined ? 'a part of the recording cannot be loaded: the server does not answer' : part.damage
    if (damage === undefined) this.#damaged.delete(number)
    else this.#damaged.set(number, damage)
  }

  #partAt(ms: number): number {
    return Math.max(
      0,
      this.facts.parts.findLastIndex((at) => at <= ms),
    )
  }

  #part(number: number): Promise<PartFrame | undefined> {
    let part = this.#parts.get(number)
    if (part === undefined) {
      part = ask<PartFrame>(`/part?number=${number}`)
      this.#parts.set(number, part)
      const [oldest] = this.#parts.keys()
      if (this.#parts.size > KEPT_MAX && oldest !== undefined) this.#parts.delete(oldest)
      void part.then((had) => had === undefined && this.#parts.delete(number))
    }
    return part
  }
}
