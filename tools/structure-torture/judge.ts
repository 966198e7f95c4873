import { setTimeout as sleep } from 'node:timers/promises'
import type { Structures } from 'aether-dsm/internal/structures'
import { HeaderWord, type TortureJournal, Word } from './journal.ts'
import type { OpenJournal } from './place.ts'
import type { StructureFate, StructureProgress, StructureVerdict } from './plan.ts'
import { type Ended, type Subject, underWay } from './subject.ts'
import { histogramOf } from './version-ages.ts'

/** The judge waits for no live process: a process that had what it wants has died or left. */
const WAIT_MS_MAX = 60_000
/** Of one structure. */
const WRONG_MAX = 20

/** Looks at what all processes have been acknowledged, and at what is there. */
export class Judge<Shared> {
  readonly #shared: Shared
  readonly #subjects: readonly Subject<Shared>[]
  readonly #journal: TortureJournal

  constructor(shared: Shared, subjects: readonly Subject<Shared>[], journal: TortureJournal) {
    this.#shared = shared
    this.#subjects = subjects
    this.#journal = journal
  }

  async prepare(): Promise<void> {
    for (const subject of this.#subjects) await subject.prepare?.(this.#shared, this.#journal.commonOf(subject))
  }

  async judge(fates: readonly StructureFate[]): Promise<readonly StructureVerdict[]> {
    const verdicts: StructureVerdict[] = []
    for (const subject of this.#subjects) verdicts.push(await this.#judge(subject, fates))
    return verdicts
  }

  /** Take everything out. Gives what is wrong. */
  async empty(): Promise<readonly string[]> {
    const wrong: string[] = []
    for (const subject of this.#subjects)
      await inTime(subject.empty(this.#shared), (text) => wrong.push(`${subject.name}: to take everything out ${text}`))
    return wrong
  }

  async #judge(subject: Subject<Shared>, fates: readonly StructureFate[]): Promise<StructureVerdict> {
    const wrong: string[] = []
    const processes = fates.map(
      ({ incarnation, seat, killedMs }): Ended => ({
        incarnation,
        seat,
        killedMs: killedMs ?? Number.POSITIVE_INFINITY,
        words: this.#journal.wordsOf(subject.name, incarnation),
      }),
    )
    const note = (text: string): void => {
      if (wrong.length < WRONG_MAX) wrong.push(text)
    }
    const common = this.#journal.commonOf(subject)
    await inTime(subject.judge({ shared: this.#shared, processes, common, wrong: note }), (text) =>
      note(`to look at it ${text}`),
    )
    const sum = (word: number): number => processes.reduce((all, { words }) => all + words[word]!, 0)
    return {
      structure: subject.name,
      operations: sum(Word.Done),
      refused: sum(Word.Refused),
      cutShort: underWay(processes),
      ages: subject.hasAges === true ? histogramOf(processes) : [],
      wrong,
    }
  }
}

/** How far each of the first `processes` has come. */
export function progressOf<Shared>(
  { subjects, journal }: Pick<OpenJournal<Shared>, 'subjects' | 'journal'>,
  processes: number,
): readonly StructureProgress[] {
  return Array.from({ length: processes }, (_, incarnation) => {
    const header = journal.headerOf(incarnation)
    const index = Atomics.load(header, HeaderWord.Subject) - 1
    const structure = subjects[index]?.name ?? ''
    return { incarnation, steps: Atomics.load(header, HeaderWord.Steps), structure }
  })
}

/** Memory in use when every other process has gone. */
export function usedBytes(shared: Structures): number {
  shared.recover()
  shared.recover()
  return shared.usage().usedBytes
}

async function inTime(work: Promise<void>, wrong: (text: string) => void): Promise<void> {
  const timer = new AbortController()
  const late = sleep(WAIT_MS_MAX, true, { signal: timer.signal }).catch(() => false)
  try {
    if (await Promise.race([work.then(() => false), late])) wrong(`takes more than ${WAIT_MS_MAX / 1000} s`)
  } catch (error) {
    wrong(`failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  } finally {
    timer.abort()
  }
}
