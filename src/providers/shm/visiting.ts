import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import type { Inbox } from './inbox.ts'
import { BlockKind } from './layout.ts'
import type { OwnDevice } from './own-device.ts'
import type { PeerDevice } from './peer-device.ts'
import type { Visit } from './visitors.ts'

/** This device, as those know it who go to its peers. */
export interface VisitingDevice extends OwnDevice {
  openPeer(gid: Gid): PeerDevice
  closePeer(peer: PeerDevice): void
  /** Let peers ring. */
  listen(): void
}

/** The peer, or undefined if its gid does not answer. To be released with `closePeer`. */
export function reachable(device: VisitingDevice, gid: Gid): PeerDevice | undefined {
  try {
    return device.openPeer(gid)
  } catch (error) {
    if (error instanceof VerbsError && error.errno === Errno.ETIMEDOUT) return undefined
    throw error
  }
}

/** The ring of a peer's shared receive queue, during a visit; undefined if there is none of that number. */
export function sharedInbox(peer: PeerDevice, visit: Visit, number: number): Inbox | undefined {
  const queue = peer.sharedTarget(number, BlockKind.SharedQueue)
  return queue.open() === undefined ? undefined : queue.inbox(visit.index)
}
