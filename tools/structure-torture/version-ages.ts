import { Word } from './journal.ts'
import type { AnyGracePeriods } from './subject.ts'

/** Of versions whose age is followed; those after them are not looked at any more. */
const VERSIONS_MAX = 2 ** 22
/** Words before the ages. */
const HEAD = 16
/** Bytes of the words that all share. */
export const VERSION_AGES_BYTES: number = 4 * HEAD + VERSIONS_MAX

/** An age beyond this is not told from it. */
const AGE_MAX = 7
/** A version is followed until it is so old. */
const FOLLOWED_MAX = 4
/** Numbers of a histogram. */
const AGES: number = AGE_MAX + 1

/** Versions that are of the same age since the same moment. */
interface Batch {
  readonly versions: readonly number[]
  readonly age: number
  readonly since: unknown
}

/**
 * The ages of versions when they are read, counted like the "pipe count" of Linux's `rcutorture`. The age is 0 until
 * the version is replaced, then 1, and 1 more for each grace period that has started and ended since.
 *
 * A reader's section started before the version was replaced, otherwise it would have got the next one. So no grace
 * period can end before the section does, and 2 must never be seen. The age is read at the end of a section, when it is
 * highest.
 *
 * The process that replaces a version keeps its age. If that process is killed, the age no longer grows. That may hide
 * an error, but cannot invent one.
 */
export class VersionAges {
  readonly #rcu: AnyGracePeriods
  readonly #words: Int32Array
  readonly #common: Int32Array
  readonly #ages: Uint8Array
  #replaced: number[] = []
  #batches: Batch[] = []

  constructor(rcu: AnyGracePeriods, words: Int32Array, common: Int32Array) {
    this.#rcu = rcu
    this.#words = words
    this.#common = common
    this.#ages = new Uint8Array(common.buffer, common.byteOffset + 4 * HEAD, VERSIONS_MAX)
  }

  /** A number for a new version. */
  next(): number {
    return 1 + Atomics.add(this.#common, 0, 1)
  }

  /**
   * Call it when this process has just replaced the version. 0 stands for versions from before the count, of which
   * there may be several.
   */
  replace(version: number): void {
    if (version === 0 || version >= VERSIONS_MAX) return
    Atomics.store(this.#ages, version, 1)
    this.#replaced.push(version)
  }

  /** A reader sees the version, at the end of its section. Gives its age. */
  see(version: number): number {
    const age = version >= VERSIONS_MAX ? 0 : Math.min(AGE_MAX, Atomics.load(this.#ages, version))
    Atomics.add(this.#words, Word.Own + age, 1)
    return age
  }

  /** Let the versions that we replaced grow older, where grace periods have passed: by asking for it. */
  async grow(): Promise<void> {
    const passed: Batch[] = []
    for (const batch of this.#batches) if (await this.#rcu.pollState(batch.since)) passed.push(batch)
    this.#batches = this.#batches.filter((batch) => !passed.includes(batch))
    for (const { versions, age } of passed) this.#growTo(versions, age + 1)
    this.#follow(this.#takeReplaced(), 1)
  }

  /** The same, by a callback after a grace period. */
  growLater(): void {
    const versions = this.#takeReplaced()
    if (versions.length > 0) this.#rcu.call(() => this.#growTo(versions, 2))
  }

  #takeReplaced(): readonly number[] {
    const versions = this.#replaced
    this.#replaced = []
    return versions
  }

  #growTo(versions: readonly number[], age: number): void {
    for (const version of versions) Atomics.store(this.#ages, version, age)
    this.#follow(versions, age)
  }

  #follow(versions: readonly number[], age: number): void {
    if (versions.length > 0 && age < FOLLOWED_MAX) this.#batches.push({ versions, age, since: this.#rcu.getState() })
  }
}

/** How often versions were seen, by their age. */
export function histogramOf(processes: readonly { readonly words: Int32Array }[]): readonly number[] {
  return Array.from({ length: AGES }, (_, age) => processes.reduce((sum, { words }) => sum + words[Word.Own + age]!, 0))
}

/** In words, what is wrong with a histogram. */
export function judgeAges(histogram: readonly number[], wrong: (text: string) => void): void {
  const old = histogram.slice(2).reduce((sum, count) => sum + count, 0)
  if (old > 0)
    wrong(`${old} versions were seen a grace period after they were replaced, or later: ${histogram.join(' ')}`)
}
