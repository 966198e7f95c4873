import { setTimeout as sleep } from 'node:timers/promises'
import { bytes, type SharedJobs, type Structures } from 'aether-dsm/internal/structures'
import { settleMap } from '../settle-map.ts'
import { readStamped, stampedValue } from '../stamped-value.ts'
import { operate, type Subject, type Trial, underWay, type Worker } from '../subject.ts'

const VALUES_MAX = 2 ** 21
const FILLING_MAX = 200
const LENGTH_MAX = 1000

/** What is under way. */
const Kind = { Add: 1, Take: 2, Complete: 3 } as const
/** In the words that all share: the number of the next job; then a byte for each. */
const NEXT = 0
const MARKS = 64
/** What has come of a job. */
const Mark = { Added: 1, Completed: 2, Refused: 4 } as const

/**
 * What was added is completed, or is there: at least once, and once if no worker was stopped for as long as its lease.
 * Only one that was killed while it completed a job may have done so.
 */
export const jobsSubject: Subject<Structures> = {
  name: 'jobs',
  commonBytes: MARKS + VALUES_MAX,
  // The last entry of the list of jobs that came back stays as its dummy.
  bytesAfterDeath: 64,

  async begin(worker) {
    const { shared, words, common, incarnation, random } = worker
    const jobs = await shared.jobs<Uint8Array>('jobs', options)
    const marks = marksOf(common)
    let count = 0
    const add = async (): Promise<void> => {
      const number = Atomics.add(common, NEXT, 1)
      if (number >= VALUES_MAX) return
      count += 1
      const value = stampedValue([incarnation, number], random.below(FILLING_MAX))
      const id = await operate(
        words,
        Kind.Add,
        () => jobs.add(value),
        () => Atomics.or(marks, number, Mark.Added),
      )
      if (id === undefined) Atomics.or(marks, number, Mark.Refused)
    }
    const work = async (): Promise<void> => {
      const job = await operate(words, Kind.Take, () => jobs.tryTake())
      if (job === undefined) return
      const number = numberOf(job.data, worker)
      await operate(
        words,
        Kind.Complete,
        () => job.complete(),
        () => number !== undefined && note(marks, number, worker),
      )
    }
    return async () => {
      const isLong = count % 16 === 0 && (await jobs.counts()).waiting > LENGTH_MAX
      await (!isLong && random.below(2) === 0 ? add() : work())
    }
  },

  async judge(trial) {
    const { shared, processes, common, wrong } = trial
    const jobs = await shared.jobs<Uint8Array>('jobs', options)
    const marks = marksOf(common)
    await takeAll(jobs, (value) => {
      const number = numberOf(value, trial)
      if (number !== undefined) note(marks, number, trial)
    })
    let lost = 0
    const added = Math.min(VALUES_MAX, common[NEXT]!)
    for (let number = 0; number < added; number += 1)
      if ((marks[number]! & (Mark.Added | Mark.Completed)) === Mark.Added) lost += 1
    const doubt = underWay(processes, Kind.Complete)
    if (lost > doubt) wrong(`${lost} jobs that were added are gone; ${doubt} were killed while they completed one`)
  },

  async empty(shared) {
    const jobs = await shared.jobs<Uint8Array>('jobs', options)
    await takeAll(jobs, () => {})
    // The map of jobs, too, is brought to one state.
    const keys = {
      set: async () => void (await jobs.add(stampedValue([], 0))),
      delete: async () => {
        await (await jobs.tryTake())?.complete()
        return true
      },
    }
    await settleMap(shared, keys, 4 * LENGTH_MAX)
  },
}

/** Also those of workers that have died: it may take a moment until they come back. */
async function takeAll(jobs: SharedJobs<Uint8Array>, taken: (value: Uint8Array) => void): Promise<void> {
  for (;;) {
    const job = await jobs.tryTake()
    if (job !== undefined) {
      taken(job.data)
      await job.complete()
      continue
    }
    const { waiting, active } = await jobs.counts()
    if (waiting + active === 0) return
    await sleep(10)
  }
}

/** A worker that is stopped keeps its job: only the dead give theirs back here. */
const options = { codec: bytes, leaseMs: 600_000, keepCompletedMs: 0, lossesMax: 1_000_000 }

type Teller = Pick<Worker<Structures> | Trial<Structures>, 'wrong'>

function numberOf(value: Uint8Array, { wrong }: Teller): number | undefined {
  const fields = readStamped(value, 2)
  if (typeof fields !== 'string') return fields[1]
  wrong(fields)
  return undefined
}

function note(marks: Uint8Array, number: number, { wrong }: Teller): void {
  const before = Atomics.or(marks, number, Mark.Completed)
  if ((before & Mark.Completed) !== 0) wrong(`job ${number} was completed twice`)
  if ((before & Mark.Refused) !== 0) wrong(`job ${number} was refused, and is there`)
}

function marksOf(common: Int32Array): Uint8Array {
  return new Uint8Array(common.buffer, common.byteOffset + MARKS, VALUES_MAX)
}
