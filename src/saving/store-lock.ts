import { describeProcess } from '../cluster/index.ts'
import { TimeoutError } from '../native/index.ts'
import { type MutexHold, STORE_NAME, type Structures } from '../structures/index.ts'

/** As for a transaction. */
const LOCK_TIMEOUT_MS = 10_000

/** Hold the mutex of a store. `holder`: the process that says it has it. @throws TimeoutError naming that process. */
export async function lockStore(
  guards: Structures,
  holder: () => number,
  signal: AbortSignal | undefined,
): Promise<MutexHold> {
  const mutex = await guards.mutex(STORE_NAME)
  const timeout = AbortSignal.timeout(LOCK_TIMEOUT_MS)
  try {
    return await mutex.lock({ signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]) })
  } catch (error) {
    if (!timeout.aborted || signal?.aborted) throw error
    const processId = holder()
    const who = processId === 0 ? 'a process' : describeProcess(processId)
    const advice = processId === 0 ? 'end' : `continue it (kill -CONT ${processId}) or end`
    const what = `${who}, has held the queues of BullMQ for ${LOCK_TIMEOUT_MS / 1000} s`
    throw new TimeoutError(`${what}, so they can be neither saved nor restored; ${advice} it`)
  }
}
