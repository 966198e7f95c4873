import { setImmediate } from 'node:timers/promises'
import { HomeLostError } from 'aether-dsm/internal/structures'
import { nowMs } from '../torture-child/clock.ts'
import type { CommonStructures, Ended, Subject, Trial, Worker } from './subject.ts'

/** The rank whose structures are lost with it, the worker that it is, and how those are called. */
export const DOOMED_RANK = 1
const DOOMED_SEAT = DOOMED_RANK - 1
const PREFIX = 'lost: '
export const doomedName = (name: string): string => `${PREFIX}${name}`

/** From the kill, or from the call if that comes later, until the error. Longer than any busy machine takes. */
const TOLD_MS_MAX = 30_000

/**
 * Words of a process for a structure whose home is killed, after those that are the structure's own. Times are of the
 * clock that all processes share, in whole milliseconds, of which the lower 32 bits.
 */
export const LossWord = {
  /** When a call first gave {@link HomeLostError}; 0 before. */
  AtMs: 28,
  /** When that call began. */
  BeganMs: 29,
  /** The longest that a later one took to give it. */
  LongestMs: 30,
} as const

/**
 * A structure that is kept at the rank that will be killed. Until then it is used like every other, and nothing fails.
 * From then on every call gives {@link HomeLostError}, in bounded time, whatever it was waiting for.
 */
export function doomedSubject(subject: Subject<CommonStructures>, doomed: CommonStructures): Subject<CommonStructures> {
  return {
    name: doomedName(subject.name),
    commonBytes: subject.commonBytes,

    async prepare(_, common) {
      await subject.prepare?.(doomed, common)
    },

    async begin(worker) {
      const losing = (call: () => Promise<void>) => () => callThatMayLose(worker, call)
      const step = await subject.begin({
        ...worker,
        shared: doomed,
        atEnd: (giveUp) => worker.atEnd(losing(giveUp)),
      })
      // Workers are told to end only after the kill.
      if (worker.seat !== DOOMED_SEAT) worker.atEnd(() => callUntilLost(worker, losing(step)))
      return losing(step)
    },

    async judge(trial) {
      judgeLosses(trial)
      const beganMs = nowMs()
      const asking = async (): Promise<void> => {
        await subject.judge({ ...trial, shared: doomed, wrong: () => {} })
        // Some judge by what was noted alone.
        await doomed.flag('asked after the kill')
      }
      const error = await asking().catch((thrown: unknown) => thrown)
      if (!isLoss(error)) trial.wrong(`after the kill the judge was given ${String(error ?? 'an answer')}`)
      const tookMs = nowMs() - beganMs
      if (tookMs > TOLD_MS_MAX) trial.wrong(`the judge was told ${Math.round(tookMs)} ms after it had asked`)
    },

    async empty() {},
  }
}

/** What is wrong with the times at which processes were told. */
export function judgeLosses({ processes, wrong }: Pick<Trial<unknown>, 'processes' | 'wrong'>): void {
  const killedMs = processes.find(({ seat }) => seat === DOOMED_SEAT)?.killedMs ?? Number.POSITIVE_INFINITY
  if (killedMs === Number.POSITIVE_INFINITY) {
    wrong('its home was not killed')
    return
  }
  for (const { seat, incarnation, words, killedMs: endedMs } of processes) {
    const who = `process ${incarnation}`
    const [atMs, beganMs, longestMs] = lossOf(words)
    if (atMs === 0 && endedMs === Number.POSITIVE_INFINITY && seat !== DOOMED_SEAT)
      wrong(`${who} was not told that its home is lost`)
    if (atMs === 0) continue
    const afterMs = (atMs - wholeMs(killedMs)) | 0
    if (afterMs < 0) wrong(`${who} was told that its home is lost ${-afterMs} ms before it was killed`)
    const waitedMs = Math.min(afterMs, (atMs - beganMs) | 0)
    for (const ms of [waitedMs, longestMs])
      if (ms > TOLD_MS_MAX) wrong(`${who} was told ${ms} ms after the kill that its home is lost`)
  }
}

function lossOf(words: Ended['words']): readonly [number, number, number] {
  return [words[LossWord.AtMs], words[LossWord.BeganMs], words[LossWord.LongestMs]] as [number, number, number]
}

async function callThatMayLose({ words }: Worker<CommonStructures>, call: () => Promise<void>): Promise<void> {
  const beganMs = wholeMs(nowMs())
  try {
    await call()
  } catch (error) {
    if (!isLoss(error)) throw error
    const endedMs = wholeMs(nowMs())
    if (Atomics.load(words, LossWord.AtMs) !== 0) {
      const longestMs = Math.max((endedMs - beganMs) | 0, Atomics.load(words, LossWord.LongestMs))
      Atomics.store(words, LossWord.LongestMs, longestMs)
      return
    }
    Atomics.store(words, LossWord.BeganMs, beganMs)
    Atomics.store(words, LossWord.AtMs, endedMs)
  }
}

/**
 * Not every call asks the home: what one process leads, or has done once, it knows. The judge tells where it stays
 * untold.
 */
async function callUntilLost({ words }: Worker<CommonStructures>, call: () => Promise<void>): Promise<void> {
  const untilMs = nowMs() + TOLD_MS_MAX
  while (Atomics.load(words, LossWord.AtMs) === 0 && nowMs() < untilMs) {
    await call()
    await setImmediate()
  }
}

function isLoss(error: unknown): boolean {
  return error instanceof HomeLostError && error.code === 'ERR_AETHER_HOME_LOST' && error.rank === DOOMED_RANK
}

function wholeMs(ms: number): number {
  // Never 0, which stands for none.
  return Math.floor(ms) | 0 || 1
}
