import { setTimeout as sleep } from 'node:timers/promises'
import { IndexError } from 'aether-dsm/index-service'
import { native } from 'aether-dsm/internal/native'

/** Calls that are made when their time has come, whether or not others have been answered. */
export interface OpenLoad {
  readonly perSecond: number
  /** For how long, before anything is counted and then. */
  readonly warmMs: number
  readonly timeMs: number
}

/** What became of the calls that count: how long each took, in nanoseconds. */
export interface OpenLoadRun {
  readonly answered: Float64Array
  readonly refused: Float64Array
}

/** Between two looks at which calls are due. */
const LOOK_MS = 1
const LATE_MS_MAX = 4
const NS_PER_SECOND = 1e9
const NS_PER_MS = 1e6

/** Make the calls. Those for which this process is too late are left out: at once, they would be a burst of its own. */
export async function runOpenLoad(call: () => Promise<unknown>, load: OpenLoad): Promise<OpenLoadRun> {
  const { perSecond, warmMs, timeMs } = load
  const answered: number[] = []
  const refused: number[] = []
  const underWay = new Set<Promise<void>>()
  const startNs = native.monotonicNs()
  const countedNs = startNs + warmMs * NS_PER_MS
  const calls = ((warmMs + timeMs) / 1000) * perSecond
  const lateMax = Math.ceil((LATE_MS_MAX / 1000) * perSecond)
  for (let made = 0; made < calls; ) {
    const due = Math.min(calls, ((native.monotonicNs() - startNs) / NS_PER_SECOND) * perSecond)
    for (made = Math.max(made, Math.floor(due) - lateMax); made < due; made += 1) {
      const beganNs = native.monotonicNs()
      const isCounted = beganNs >= countedNs
      const over = (times: number[]): void => {
        if (isCounted) times.push(native.monotonicNs() - beganNs)
      }
      const asked = call()
        .then(
          () => over(answered),
          (error: unknown) => {
            if (!(error instanceof IndexError && error.code === 'ERR_AETHER_INDEX_BUSY')) throw error
            over(refused)
          },
        )
        .finally(() => underWay.delete(asked))
      underWay.add(asked)
    }
    await sleep(LOOK_MS)
  }
  await Promise.all(underWay)
  return { answered: Float64Array.from(answered), refused: Float64Array.from(refused) }
}
