import { isRecord } from '../../hosts/index.ts'
import { BarrierWord } from '../barrier-words.ts'
import { ranksInWords } from '../errors.ts'
import type { OpenWait, SubjectAnswers, WaitFinding, WaitingPart, WaitSubject } from './subject.ts'

/** Waits at the group's barrier, read from the words that both threads share. */
export class BarrierWaits implements WaitingPart {
  readonly #words: Int32Array

  constructor(words: Int32Array) {
    this.#words = words
  }

  *waits(): Iterable<OpenWait> {
    const words = this.#words
    const generation = Atomics.load(words, BarrierWord.Entered)
    const isOver =
      Atomics.load(words, BarrierWord.Released) >= generation || Atomics.load(words, BarrierWord.Failed) !== 0
    if (isOver || Atomics.load(words, BarrierWord.Waiting) === 0) return
    const subject = { about: 'barrier', generation } as const
    yield {
      key: `barrier ${generation}`,
      kind: 'barrier',
      object: 'the barrier',
      sinceNs: Number.POSITIVE_INFINITY,
      subject,
    }
  }

  answer(subject: WaitSubject): unknown {
    return subject.about === 'barrier' ? { entered: Atomics.load(this.#words, BarrierWord.Entered) } : undefined
  }

  explain(subject: WaitSubject, { said, silent }: SubjectAnswers): WaitFinding | undefined {
    if (subject.about !== 'barrier') return undefined
    const late = [...said].filter(([, answer]) => !isRecord(answer) || Number(answer['entered']) < subject.generation)
    const missing = late.map(([rank]) => rank)
    const ranks = [...missing, ...silent].sort((a, b) => a - b)
    if (ranks.length === 0) return { ranks, state: 'all have arrived, and the release is on its way' }
    const verb = missing.length === 1 ? 'has' : 'have'
    return { ranks, state: missing.length === 0 ? '' : `${ranksInWords(missing)} ${verb} not arrived` }
  }
}
