import { decodeHello } from '../../src/messaging/hello.ts'
import { type LinkOptions, VerbsLink } from '../../src/messaging/index.ts'
import { LinkEnd, type LinkHost } from '../../src/messaging/link-end.ts'
import { linkSettings } from '../../src/messaging/link-options.ts'
import { openDevice } from '../../src/verbs/index.ts'

/** What the links of one host share: opening the device of a simulated cluster adds the host. */
export function openLinkHost(device: string): LinkHost {
  const opened = openDevice(device)
  return { domain: opened.createProtectionDomain(), channel: opened.createCompletionChannel() }
}

/** Two links over a simulated network, without a connection manager: time passes where somebody lets it, and they move where they are polled. */
export function connectSimulated(one: LinkHost, other: LinkHost, options: LinkOptions): [VerbsLink, VerbsLink] {
  const settings = linkSettings(options)
  const ends = [one, other].map((host) => {
    const end = new LinkEnd(host, settings)
    return { end, pair: host.domain.createQueuePair({ type: 'rc', ...end.pairOptions }) }
  })
  const [here, there] = ends as [(typeof ends)[0], (typeof ends)[0]]
  const join = (mine: typeof here, peer: typeof here): VerbsLink => {
    mine.pair.toInit()
    mine.end.prepare(mine.pair)
    mine.pair.toReadyToReceive({ remote: peer.pair.endpoint })
    mine.pair.toReadyToSend({ remote: peer.pair.endpoint })
    const carrier = { wakeSoon: () => {}, release: () => mine.pair.close() }
    return new VerbsLink(mine.end, mine.pair, decodeHello(peer.end.hello), carrier, new Uint8Array(0))
  }
  return [join(here, there), join(there, here)]
}
