import { WatchedWait } from '../profiling/index.ts'
import { describeCall } from './call-waits.ts'
import type { ClientCall, SyncAnswer } from './client-call.ts'
import type { ClientSession } from './client-session.ts'

/**
 * Polls between two looks at the clock: of those that find nothing, and of those that find something, each of which may
 * be many messages.
 */
const IDLE_POLLS = 128
const BUSY_POLLS = 32
const NAP_MS = 0.05
const pillow = new Int32Array(new SharedArrayBuffer(4))

/**
 * Poll the session's link until the call has its answer, or `timeoutMs` are over. The time counts from the first look
 * at the clock, which comes after some polls, a few microseconds. It naps if the answer takes long, unless the link's
 * `completion` is `polling`.
 */
export function waitSync(client: ClientSession, call: ClientCall, answer: SyncAnswer, timeoutMs: number): void {
  const { session, spinTime } = client
  const { link } = session
  link.flush()
  let lookedFrom = 0
  let now = 0
  let napAt = 0
  let watched: WatchedWait | undefined
  try {
    for (let idle = 0, busy = 0; !answer.done; ) {
      const isBusy = link.poll() > 0
      if (isBusy) {
        // Other traffic may never pause.
        busy += 1
        if (busy % BUSY_POLLS !== 0 || answer.done) continue
      } else {
        idle += 1
        if (idle % IDLE_POLLS !== 0) continue
      }
      // What waits for room has only us.
      session.push()
      link.flush()
      now = performance.now()
      link.attend?.(now)
      if (call.deadline === Infinity) call.deadline = now + timeoutMs
      else if (now >= call.deadline) {
        client.abandon(call, client.expired(call))
        return
      }
      if (isBusy) continue
      if (napAt === 0) {
        lookedFrom = now
        napAt = now + spinTime.begin()
      } else if (now > napAt) {
        watched ??= new WatchedWait(() => describeCall(call, link))
        watched.look()
        if (link.completion !== 'polling') Atomics.wait(pillow, 0, 0, NAP_MS)
      }
    }
    if (napAt !== 0) spinTime.record(now - lookedFrom)
  } finally {
    watched?.end()
  }
}
