import type { RegionGroup } from '../../dsm/index.ts'

/** What the agents of all ranks have counted so far. */
export interface Traffic {
  readonly messages: number
  /** Of pages that moved. */
  readonly bytes: number
  /** Page faults of views. */
  readonly faults: number
}

export function trafficOf(group: RegionGroup): Traffic {
  let [messages, bytes, faults] = [0, 0, 0]
  for (let rank = 0; rank < group.size; rank++) {
    const profile = group.profile(rank)
    messages += profile?.total('dsm.pages', 'messagesSent') ?? 0
    bytes += profile?.total('dsm.pages', 'bytesSent') ?? 0
    faults += (profile?.total('dsm.pages', 'readFaults') ?? 0) + (profile?.total('dsm.pages', 'writeFaults') ?? 0)
  }
  return { messages, bytes, faults }
}
