import type { Runtime } from '../../runtime/index.ts'
import { encodeRecord, type SentRecord } from './page-record.ts'
import { RECORDS_MAX, type SharingWatch } from './sharing-watch.ts'

/** How long ranks have to answer; those that live answer within microseconds, whatever their programs do. */
const ANSWER_MS = 2000

/** One record of a rank; they are asked for one by one, since each fills a message. */
export interface AdviceQuestion {
  readonly region: number
  readonly advice: number
}

/** `null` where the region is not open with `advise`. */
export type AdviceAnswer = { readonly more: boolean; readonly record: SentRecord | null } | null

/** What came of asking all ranks; `silent` gave no answer in time, or ended. */
export interface Gathered {
  readonly said: ReadonlyArray<readonly [rank: number, records: readonly unknown[]]>
  readonly unwatched: readonly number[]
  readonly silent: readonly number[]
  readonly more: boolean
}

export function isAdviceQuestion(question: unknown): question is AdviceQuestion {
  const { region, advice } = (question ?? {}) as Partial<AdviceQuestion>
  return Number.isSafeInteger(region) && Number.isSafeInteger(advice)
}

export function answerAdvice(watch: SharingWatch | undefined, { advice }: AdviceQuestion): AdviceAnswer {
  if (watch === undefined) return null
  const record = watch.records[advice]
  return { more: watch.isFull, record: record === undefined ? null : encodeRecord(record) }
}

/** Ask `ranks` for all of their records; `done` is called once, when all have answered or have had their time. */
export function gatherAdvice(
  region: number,
  ranks: readonly number[],
  ask: (rank: number, question: AdviceQuestion, done: (answer: unknown) => void) => void,
  runtime: Runtime,
  done: (gathered: Gathered) => void,
): void {
  const said: [number, unknown[]][] = []
  const unwatched: number[] = []
  const silent = new Set(ranks)
  let more = false
  let isOver = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    done({ said, unwatched: unwatched.sort(ascending), silent: [...silent].sort(ascending), more })
  }
  let asked = ranks.length
  const finish = (): void => {
    asked -= 1
    if (asked === 0) end()
  }
  const next = (rank: number, records: unknown[]): void =>
    ask(rank, { region, advice: records.length }, (told) => {
      if (isOver) return
      // It has ended: what it said until then is left out.
      if (told === undefined) return finish()
      const answer = told as AdviceAnswer
      const record = answer?.record
      more ||= answer?.more === true
      if (record !== null && record !== undefined) records.push(record)
      if (record !== null && record !== undefined && records.length < RECORDS_MAX) return next(rank, records)
      silent.delete(rank)
      if (answer === null) unwatched.push(rank)
      else said.push([rank, records])
      finish()
    })
  runtime.timers.at(runtime.now() + ANSWER_MS * 1e6, end)
  for (const rank of ranks) next(rank, [])
  if (ranks.length === 0) end()
}

const ascending = (a: number, b: number): number => a - b
