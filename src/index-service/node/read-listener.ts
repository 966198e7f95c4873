import { type Connection, type ConnectionRequest, type Listener, listen } from '../../cm/index.ts'
import { Access, type Device, deviceNames, openDevice, type ProtectionDomain } from '../../verbs/index.ts'
import type { Place } from './index-contract.ts'
import type { ListenPlace } from './listen-place.ts'
import { ShardRegions } from './shard-regions.ts'

/** Lets other machines READ the memory of a node. */
export interface NodeReads {
  readonly place: Place
  /** That of a shard. */
  regions(shard: number): Pick<ShardRegions, 'told' | 'close'>
  close(): void
}

/**
 * Takes connections of clients on other machines that READ the memory of a node. They can do nothing else with them:
 * the queue pairs have no other right, and no receives.
 */
export class ReadListener implements NodeReads {
  readonly place: Place
  readonly #domain: ProtectionDomain
  readonly #device: Device
  readonly #listener: Listener
  readonly #connections = new Set<Connection>()

  private constructor(device: Device, domain: ProtectionDomain, listener: Listener, place: Place) {
    this.#device = device
    this.#domain = domain
    this.#listener = listener
    this.place = place
  }

  /** Undefined where the memory of replicas is not found, or nothing listens. Clients ask the node then. */
  static async listen(place: ListenPlace | undefined, deviceName: string): Promise<ReadListener | undefined> {
    if (place === undefined || !isRead(deviceName)) return undefined
    return await ReadListener.#open(place, deviceName).catch(() => undefined)
  }

  static async #open({ address, told = address }: ListenPlace, deviceName: string): Promise<ReadListener> {
    const device = openDevice(deviceName)
    try {
      const domain = device.createProtectionDomain()
      const listener = (await listen({ address, domain })).unref()
      const opened = new ReadListener(device, domain, listener, { address: told, port: listener.port })
      // Without its device no one READs, and clients ask the node.
      void opened.#serve().catch(() => opened.close())
      return opened
    } catch (error) {
      device.close()
      throw error
    }
  }

  regions(): ShardRegions {
    return new ShardRegions(this.#domain)
  }

  close(): void {
    this.#listener.close()
    for (const connection of this.#connections) connection.close()
    this.#device.close()
  }

  async #serve(): Promise<void> {
    for await (const request of this.#listener) void this.#accept(request)
  }

  async #accept(request: ConnectionRequest): Promise<void> {
    const rights = { domain: this.#domain, access: Access.RemoteRead, maxSendRequests: 1, maxReceiveRequests: 1 }
    // The client may have gone meanwhile.
    const connection = await request.accept(rights).catch(() => undefined)
    if (connection === undefined) return
    this.#connections.add(connection.unref())
    await connection.closed
    this.#connections.delete(connection)
    connection.close()
  }
}

/** Whether a device of that name is for READs of clients. */
function isRead(name: string): boolean {
  if (!deviceNames().includes(name)) return false
  using device = openDevice(name)
  return device.attributes.linkLayer === 'tcp'
}
