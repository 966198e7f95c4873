import { connectLink, listenLinks, type VerbsLink } from '../../../src/messaging/index.ts'
import { openSimulatedCluster, type SimulationOptions } from '../../../src/providers/index.ts'
import type { ChannelOptions, Server, ServerOptions } from '../../../src/rpc/index.ts'
import { connectSimulated, openLinkHost } from '../../messaging/simulated-links.ts'
import { type Pair, pairOver } from '../support.ts'

export type RdmaPair = Pair<VerbsLink>

/** A kind of connection with what it does about memory that is lent. */
export interface Ground {
  readonly name: string
  readonly skip?: string
  /** Bytes that go over it in good time. */
  readonly longBytes: number
  open(serve: (server: Server) => void, channel?: ChannelOptions, server?: ServerOptions): Promise<RdmaPair>
}

type Means = 'window' | 'registration'

const rough: SimulationOptions = {
  advanceOnPoll: true,
  // A READ of many packets begins anew where one is lost, so few are.
  network: { jitterNs: 3000, tail: 0.002, tailNs: 20_000, loss: 0.0005, duplicate: 0.01, reorder: 0.0005 },
  adapter: { tear: 0.5, earlyAcknowledge: 0.5, completionNs: 3000 },
}

function overShm(lending: Means): Ground {
  const skip = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }
  return { ...overDevice(`shm, ${lending}s`, { device: 'shm0', address: '127.0.0.1' }, lending, 5_000_001), ...skip }
}

/** Both ends of a link, in this process. */
export interface LinkPair extends AsyncDisposable {
  readonly client: VerbsLink
  readonly server: VerbsLink
}

export async function linkPair(
  place: { readonly device: string; readonly address: string },
  lending: Means | 'auto',
): Promise<LinkPair> {
  let accept!: (link: VerbsLink) => void
  const accepted = new Promise<VerbsLink>((resolve) => {
    accept = resolve
  })
  const listener = await listenLinks({ ...place, onLink: accept })
  const client = await connectLink({ ...place, port: listener.port, lending })
  const server = await accepted
  return {
    client,
    server,
    async [Symbol.asyncDispose]() {
      await client.close()
      listener.close()
    },
  }
}

/** Both ends in this process, joined by a device that opens by its name. */
export function overDevice(
  name: string,
  place: { readonly device: string; readonly address: string },
  lending: Means | 'auto',
  longBytes: number,
): Ground {
  return {
    name,
    longBytes,
    async open(serve, channel, server) {
      const links = await linkPair(place, lending)
      const close = (): void => void links[Symbol.asyncDispose]()
      return pairOver([links.client, links.server], serve, { channel, server }, close)
    },
  }
}

export function overSim(
  name: string,
  seed: number,
  lending: Means,
  simulation: SimulationOptions,
  longBytes: number,
): Ground {
  return {
    longBytes,
    name: `sim, ${lending}s, ${name}`,
    async open(serve, channel, server) {
      const cluster = openSimulatedCluster(seed, simulation)
      const hosts = [openLinkHost(cluster.device), openLinkHost(cluster.device)] as const
      const [client, link] = connectSimulated(hosts[0], hosts[1], { keepAliveMs: 0, lending })
      let isOver = false
      // Time passes where both ends look. There is no connection manager that tells an end that the other has gone.
      const turn = (): void => {
        for (let polls = 0; polls < 50; polls += 1) {
          client.poll()
          link.poll()
        }
        if (!client.open) link.lose('the other end has gone')
        if (!link.open) client.lose('the other end has gone')
        if (!isOver) setImmediate(turn)
      }
      setImmediate(turn)
      return pairOver([client, link], serve, { channel, server }, () => {
        isOver = true
        setImmediate(() => setImmediate(() => cluster[Symbol.dispose]()))
      })
    },
  }
}

export const grounds: readonly Ground[] = [
  overShm('window'),
  overShm('registration'),
  overSim('a quiet network', 1, 'window', { advanceOnPoll: true }, 2_200_001),
  overSim('packets lost, doubled, overtaken and torn', 2, 'window', rough, 200_001),
  overSim('packets lost, doubled, overtaken and torn', 3, 'registration', rough, 200_001),
]
