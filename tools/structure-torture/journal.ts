/** Processes of a round, those included that took the place of killed ones. */
export const INCARNATIONS_MAX = 512
/** Seats, each taken by one process after the other. */
export const SEATS_MAX = 16
/** Of one process in one structure. */
const WORDS = 32
const HEADER_WORDS = 8

/** Words that every process has of its own, whatever it works on. */
export const HeaderWord = { Steps: 0, Subject: 1 } as const

/** Words that every process has for each structure; the rest is the structure's own. */
export const Word = {
  /** Operations that were acknowledged. */
  Done: 0,
  /** What is under way: 0 for nothing. */
  UnderWay: 1,
  /** Operations that were refused for want of memory. */
  Refused: 2,
  /** The first that is the structure's own. */
  Own: 8,
} as const

/** A structure that is tortured, as far as the journal knows it. */
interface JournalSubject {
  readonly name: string
  /** Of all processes together. */
  readonly commonBytes: number
}

/**
 * What every process is doing and has been acknowledged, in memory that outlives it. A word is written before an
 * operation and after it, so at a kill at most that one operation is in doubt. The journal is in a space of its own,
 * apart from what is tortured.
 *
 * ```
 *   header: a few words for each process │ for each structure: words for each process, then those that all share
 * ```
 */
export class TortureJournal {
  readonly #words: Int32Array
  readonly #begins = new Map<string, number>()

  constructor(words: Int32Array, subjects: readonly JournalSubject[]) {
    this.#words = words
    let at = INCARNATIONS_MAX * HEADER_WORDS
    for (const { name, commonBytes } of subjects) {
      this.#begins.set(name, at)
      at += INCARNATIONS_MAX * WORDS + wordsFor(commonBytes)
    }
  }

  static bytesFor(subjects: readonly Pick<JournalSubject, 'commonBytes'>[]): number {
    const words = subjects.map(({ commonBytes }) => INCARNATIONS_MAX * WORDS + wordsFor(commonBytes))
    return 4 * words.reduce((sum, each) => sum + each, INCARNATIONS_MAX * HEADER_WORDS)
  }

  headerOf(incarnation: number): Int32Array {
    return this.#words.subarray(incarnation * HEADER_WORDS, (incarnation + 1) * HEADER_WORDS)
  }

  wordsOf(subject: string, incarnation: number): Int32Array {
    const at = this.#begin(subject) + incarnation * WORDS
    return this.#words.subarray(at, at + WORDS)
  }

  commonOf({ name, commonBytes }: JournalSubject): Int32Array {
    const at = this.#begin(name) + INCARNATIONS_MAX * WORDS
    return this.#words.subarray(at, at + wordsFor(commonBytes))
  }

  #begin(subject: string): number {
    const begin = this.#begins.get(subject)
    if (begin === undefined) throw new Error(`the journal has no words for '${subject}'`)
    return begin
  }
}

function wordsFor(bytes: number): number {
  return Math.ceil(bytes / 4)
}
