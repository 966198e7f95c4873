import type { RegionGroup } from 'aether-dsm/internal/dsm'

/** What the agents of all ranks have counted so far. */
export interface Traffic {
  readonly messages: number
  /** Of pages that moved. */
  readonly bytes: number
  /** Page faults of views. */
  readonly faults: number
}

const CALM_LOOKS = 6
const LOOK_MS = 4
/** Of a cluster that never comes to rest. */
const LOOKS_MAX = 250
const nap = new Int32Array(new SharedArrayBuffer(4))

/**
 * The same when no message is in transit any more: when looks some milliseconds apart give the same counts. Messages
 * that follow an access, for example a copy for the home, do not delay it. An agent may also have to wait for a CPU.
 */
export function trafficAtRest(group: RegionGroup): Traffic {
  let last = trafficOf(group)
  for (let look = 0, calm = 0; calm < CALM_LOOKS && look < LOOKS_MAX; look += 1) {
    Atomics.wait(nap, 0, 0, LOOK_MS)
    const now = trafficOf(group)
    calm = now.messages === last.messages && now.bytes === last.bytes ? calm + 1 : 0
    last = now
  }
  return last
}

export function trafficOf(group: RegionGroup): Traffic {
  let [messages, bytes, faults] = [0, 0, 0]
  for (let rank = 0; rank < group.size; rank += 1) {
    const profile = group.profile(rank)
    messages += profile?.total('dsm.pages', 'messagesSent') ?? 0
    bytes += profile?.total('dsm.pages', 'bytesSent') ?? 0
    faults += (profile?.total('dsm.pages', 'readFaults') ?? 0) + (profile?.total('dsm.pages', 'writeFaults') ?? 0)
  }
  return { messages, bytes, faults }
}
