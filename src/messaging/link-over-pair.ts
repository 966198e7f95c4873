import type { QueuePair } from '../verbs/index.ts'
import type { DeviceContext } from './device-context.ts'
import { decodeHello, HELLO_BYTES } from './hello.ts'
import type { LinkEnd } from './link-end.ts'
import { SharedPlace } from './shared-place.ts'
import type { LinkOwner } from './verbs-carrier.ts'
import { VerbsLink } from './verbs-link.ts'

/** A queue pair that is connected, however that was done. */
export interface ConnectedPair {
  readonly pair: QueuePair
  /** The peer's hello, followed by what its program sent along. */
  readonly said: Uint8Array
  /** The name of the peer for people. */
  readonly peerText: string | undefined
  /** Take the connection down. */
  close(): void
}

/** Make a link over a connected queue pair; if that fails, the pair is closed. */
export function linkOverPair(connected: ConnectedPair, end: LinkEnd, context: DeviceContext): VerbsLink {
  const { pair, said, peerText } = connected
  const place = end.receives instanceof SharedPlace ? end.receives : undefined
  const close = (closed: () => void): void => {
    connected.close()
    closed()
    // Memory of the domain is given back after this turn.
    setImmediate(() => setImmediate(() => context.release()))
  }
  const owner: LinkOwner = {
    alarm: context.loop,
    departures: context.departures,
    wakeSoon: (link) => (place === undefined ? context.loop.wake(link) : place.wakeSoon()),
    hold: () => {
      context.retain()
      return () => context.release()
    },
    release: (link, closed, isDrained) => {
      if (place !== undefined) return place.depart(() => close(closed), isDrained)
      context.loop.remove(link)
      close(closed)
    },
  }
  try {
    const link = new VerbsLink(end, pair, decodeHello(said), owner, said.subarray(HELLO_BYTES), peerText)
    if (place === undefined) context.loop.add(link)
    return link
  } catch (error) {
    connected.close()
    throw error
  }
}
