import { WatchedWait } from '../profiling/index.ts'
import { describeCall } from './call-waits.ts'
import type { ClientCall, SyncAnswer } from './client-call.ts'
import type { ClientSession } from './client-session.ts'

/** Between two looks at the clock. */
const POLLS = 32
/** Spinning longer than this takes the processor from the server, where it has to share it. */
const SPIN_MS = 0.2
const NAP_MS = 0.05
const pillow = new Int32Array(new SharedArrayBuffer(4))

/** Polls the session's link until the call has its answer, or its time is up. */
export function waitSync(client: ClientSession, call: ClientCall, answer: SyncAnswer): void {
  const { session } = client
  const { link } = session
  const { deadline } = call
  link.flush()
  let napAt = 0
  let watched: WatchedWait | undefined
  try {
    for (let idle = 0; !answer.done; ) {
      if (link.poll() > 0) continue
      idle += 1
      if (idle % POLLS !== 0) continue
      // What waits for room has only us.
      session.push()
      link.flush()
      const now = performance.now()
      if (now >= deadline) {
        client.abandon(call, client.expired(call))
        return
      }
      if (napAt === 0) napAt = now + SPIN_MS
      else if (now > napAt) {
        watched ??= new WatchedWait(() => describeCall(call))
        watched.look()
        Atomics.wait(pillow, 0, 0, NAP_MS)
      }
    }
  } finally {
    watched?.end()
  }
}
