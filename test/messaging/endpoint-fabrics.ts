import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Endpoint } from '../../src/messaging/endpoint.ts'
import {
  connectEndpoint,
  type EndpointOptions,
  type LinkConnectionOptions,
  type LinkOptions,
  listenEndpoints,
} from '../../src/messaging/index.ts'
import { openSimulatedCluster, type SimulatedCluster } from '../../src/providers/index.ts'
import type { EndpointFabric, JoinedEndpoints } from './endpoint-cases.ts'
import { connectSimulated, openLinkHost } from './simulated-links.ts'

const program = fileURLToPath(new URL('./fixtures/peer-program.js', import.meta.url))

/**
 * Over a device with a connection manager, with what each connection of `join` is given; whoever is killed is a process
 * of its own.
 */
export function deviceFabric(device: string, address: string, given: LinkConnectionOptions = {}): EndpointFabric {
  const where = { device, address }
  return {
    name: device,
    where,
    join: async (options = {}) => {
      let arrived!: (endpoint: Endpoint) => void
      const accepted = new Promise<Endpoint>((resolve) => {
        arrived = resolve
      })
      const listener = await listenEndpoints({ ...where, ...given, ...options, accept: arrived })
      const client = await connectEndpoint({ ...where, ...given, ...options, port: listener.port })
      const server = await accepted
      const close = async (): Promise<void> => {
        listener.close()
        await Promise.all([client.close(), server.close()])
      }
      return { client, server, close }
    },
    joinMortal: async () => {
      const child = fork(program, ['lend', '0', device, address], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      const [{ port }] = (await once(child, 'message')) as [{ port: number }]
      const client = await connectEndpoint({ ...where, port })
      let token: DataView = new DataView(new ArrayBuffer(12))
      for await (const { data } of client) {
        token = new DataView(data.buffer, data.byteOffset)
        break
      }
      return {
        client,
        memory: { address: token.getFloat64(0), key: token.getUint32(8) },
        kill: () => void child.kill('SIGKILL'),
        close: () => client.close(),
      }
    },
  }
}

/**
 * Over a simulated network that loses, doubles and delays packets. Its time passes where the ends look at what has
 * come, in each turn here.
 */
export function simulatedFabric(seed: number): EndpointFabric {
  const meet = (options: LinkOptions & EndpointOptions): JoinedEndpoints & { readonly cluster: SimulatedCluster } => {
    const cluster = openSimulatedCluster(seed, {
      advanceOnPoll: true,
      network: { jitterNs: 3000, loss: 0.01, duplicate: 0.02, reorder: 0.02 },
    })
    const hosts = [openLinkHost(cluster.device), openLinkHost(cluster.device)] as const
    const settings = { keepAliveMs: 0, ...options }
    const [client, server] = connectSimulated(hosts[0], hosts[1], settings).map(
      (link) => new Endpoint(link, undefined, new Uint8Array(0), options),
    ) as [Endpoint, Endpoint]
    let over = false
    const pump = (): void => {
      for (const [index, { link }] of [client, server].entries()) if (cluster.hosts[index]?.alive) link.poll()
      if (!over) setImmediate(pump)
    }
    pump()
    const close = async (): Promise<void> => {
      await Promise.all([client.close(), server.close()])
      over = true
      cluster.close()
    }
    return { client, server, close, cluster }
  }
  return {
    name: 'a simulated network',
    join: (options = {}) => Promise.resolve(meet(options)),
    joinMortal: () => {
      const { client, server, close, cluster } = meet({ ringBytes: 4096 })
      const { address, key } = server.allocate(64)
      return Promise.resolve({
        client,
        memory: { address, key },
        kill: () => cluster.inject({ kind: 'crash', atNs: cluster.nowNs, host: 1 }),
        close: () => {
          server.destroy()
          return close()
        },
      })
    },
  }
}
