import { decodeHello } from '../../src/messaging/hello.ts'
import { type LinkOptions, VerbsLink } from '../../src/messaging/index.ts'
import { LinkEnd, type LinkHost } from '../../src/messaging/link-end.ts'
import { linkSettings } from '../../src/messaging/link-options.ts'
import type { SharedReceiveOptions } from '../../src/messaging/receive-shares.ts'
import type { SharedPlace } from '../../src/messaging/shared-place.ts'
import { SharedReceivePool } from '../../src/messaging/shared-receive-pool.ts'
import type { LinkOwner } from '../../src/messaging/verbs-carrier.ts'
import { openDevice } from '../../src/verbs/index.ts'

/** What the links of one host share: opening the device of a simulated cluster adds the host. */
export function openLinkHost(device: string): LinkHost {
  const opened = openDevice(device)
  return { domain: opened.createProtectionDomain(), channel: opened.createCompletionChannel() }
}

/** What links of a host share. */
export function shareReceives(
  host: LinkHost,
  sends: number,
  options: Required<SharedReceiveOptions>,
): SharedReceivePool {
  const { domain, channel } = host
  const nothing = (): void => {}
  const settings = { sends, completion: 'polling' } as const
  return new SharedReceivePool({ domain, channel, wakeSoon: nothing, release: nothing }, settings, options)
}

/**
 * Two links over a simulated network, without a connection manager: time passes where somebody lets it, and they move
 * where they are polled.
 */
export function connectSimulated(
  one: LinkHost,
  other: LinkHost,
  options: LinkOptions,
  place?: SharedPlace,
): [VerbsLink, VerbsLink] {
  const settings = linkSettings(options)
  const ends = [one, other].map((host) => {
    const end = new LinkEnd(host, settings, host === other ? place : undefined)
    return { end, pair: host.domain.createQueuePair({ type: 'rc', ...end.pairOptions }) }
  })
  const [here, there] = ends as [(typeof ends)[0], (typeof ends)[0]]
  const join = (mine: typeof here, peer: typeof here): VerbsLink => {
    mine.pair.toInit()
    mine.end.prepare(mine.pair)
    mine.pair.toReadyToReceive({ remote: peer.pair.endpoint })
    // A message that meets no receive is not repeated, and ends its link.
    mine.pair.toReadyToSend({ remote: peer.pair.endpoint, rnrRetry: 0 })
    const close = (closed: () => void): void => {
      mine.pair.close()
      closed()
    }
    const shared = mine.end.receives === place ? place : undefined
    const owner: LinkOwner = {
      wakeSoon: () => shared?.wakeSoon(),
      release: (_link, closed, isDrained) => {
        if (shared === undefined) close(closed)
        else shared.depart(() => close(closed), isDrained)
      },
    }
    return new VerbsLink(mine.end, mine.pair, decodeHello(peer.end.hello), owner, new Uint8Array(0))
  }
  return [join(here, there), join(there, here)]
}
