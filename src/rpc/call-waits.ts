import type { MessageLink } from '../messaging/index.ts'
import { durationInWords, type KeyedWait, monotonicNow, type WaitDescription, watchWaits } from '../profiling/index.ts'
import type { CallTable, ClientCall } from './client-call.ts'
import type { Session } from './session.ts'

/** What of a client's session is looked at. */
interface WatchedSession {
  readonly calls: CallTable
  readonly session: Session
}

let lastSession = 0

/**
 * Have the watchdog check the calls of a session, until the returned function is called. It checks calls with one
 * answer; streams may last.
 */
export function watchCalls({ calls, session }: WatchedSession): () => void {
  const name = ++lastSession
  let received = session.received
  let heardNs = monotonicNow()
  return watchWaits(function* (): Iterable<KeyedWait> {
    if (session.received !== received) heardNs = monotonicNow()
    received = session.received
    for (const call of calls.open()) {
      // A blocking call looks by itself.
      if (call.sync !== undefined || call.method!.streamsAnswers || call.method!.streamsRequests) continue
      const silence = call.sent ? `, from which nothing has come for ${durationInWords(monotonicNow() - heardNs)}` : ''
      const wait = describeCall(call, session.link, silence)
      yield { ...wait, sinceNs: Number.POSITIVE_INFINITY, key: `call ${name} ${call.id}` }
    }
  })
}

/** `more`: what else is known of the server. */
export function describeCall(call: ClientCall, { peerText }: MessageLink, more = ''): WaitDescription {
  const state = call.sent ? `the request was sent to the server${more}` : 'the request waits for room in the link'
  const { deadline } = call
  const leftMs = deadline === Infinity ? Infinity : deadline - performance.now()
  const until = leftMs === Infinity ? 'it has no deadline' : `its deadline is in ${durationInWords(leftMs * 1e6)}`
  const from = peerText === undefined ? '' : ` from ${peerText}`
  const object = `the answer to the call '${call.method!.name}'${from}`
  return { kind: 'call', object, state: `${state}; ${until}`, ranks: [], processes: [] }
}
