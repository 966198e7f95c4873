import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { Random } from 'aether-dsm/internal/runtime'
import { HeaderWord, type TortureJournal } from './journal.ts'
import type { StructurePlan } from './plan.ts'
import type { Subject, Worker } from './subject.ts'

/** Operations on one structure, one after the other, at the most. */
const TURN_MAX = 8
/** Turns between two looks at what else the event loop has to do. */
const TURNS_BETWEEN_PAUSES = 16
/** More of a kind tell no more. */
const NOTES_MAX = 50

/** What a worker found wrong, as it writes it down. */
export interface Note {
  readonly structure: string
  readonly text: string
}

/** Works on all structures in turn, at random, until it is told to stop, or killed. */
export class Workman<Shared> {
  readonly #plan: StructurePlan
  readonly #shared: Shared
  readonly #subjects: readonly Subject<Shared>[]
  readonly #journal: TortureJournal
  readonly #random: Random
  readonly #steps: (() => Promise<void>)[] = []
  readonly #atEnd: (() => Promise<void>)[] = []
  #stopped = false
  #notes = 0

  constructor(plan: StructurePlan, shared: Shared, subjects: readonly Subject<Shared>[], journal: TortureJournal) {
    this.#plan = plan
    this.#shared = shared
    this.#subjects = subjects
    this.#journal = journal
    this.#random = new Random(plan.seed)
  }

  stop(): void {
    this.#stopped = true
  }

  /** Open everything, and look at what who had the seat before has left. */
  async begin(): Promise<void> {
    const header = this.#journal.headerOf(this.#plan.incarnation)
    for (const [index, subject] of this.#subjects.entries()) {
      Atomics.store(header, HeaderWord.Subject, index + 1)
      this.#steps.push(await subject.begin(this.#workerOf(subject)))
    }
  }

  async run(): Promise<void> {
    const header = this.#journal.headerOf(this.#plan.incarnation)
    const steps = this.#steps
    for (let turn = 1; !this.#stopped; turn += 1) {
      const index = this.#random.below(steps.length)
      Atomics.store(header, HeaderWord.Subject, index + 1)
      const step = steps[index]!
      for (let left = 1 + this.#random.below(TURN_MAX); left > 0; left -= 1) await this.#do(index, step, header)
      if (turn % TURNS_BETWEEN_PAUSES === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    for (const giveUp of this.#atEnd) await giveUp()
  }

  async #do(index: number, step: () => Promise<void>, header: Int32Array): Promise<void> {
    try {
      await step()
    } catch (error) {
      const { name } = this.#subjects[index]!
      this.#wrong(name, error instanceof Error ? (error.stack ?? error.message) : String(error))
    }
    Atomics.add(header, HeaderWord.Steps, 1)
  }

  #workerOf(subject: Subject<Shared>): Worker<Shared> {
    const { seat, incarnation } = this.#plan
    return {
      shared: this.#shared,
      seat,
      incarnation,
      random: this.#random,
      words: this.#journal.wordsOf(subject.name, incarnation),
      common: this.#journal.commonOf(subject),
      wrong: (text) => this.#wrong(subject.name, text),
      atEnd: (giveUp) => void this.#atEnd.push(giveUp),
    }
  }

  #wrong(structure: string, text: string): void {
    this.#notes += 1
    if (this.#notes > NOTES_MAX) return
    const { notes, incarnation } = this.#plan
    const note: Note = { structure, text: `process ${incarnation}: ${text}` }
    appendFileSync(join(notes, String(incarnation)), `${JSON.stringify(note)}\n`)
  }
}
