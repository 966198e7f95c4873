import { type Connection, type ConnectionRequest, type Listener, listen } from '../../cm/index.ts'
import { Access, type Device, openDevice, type ProtectionDomain } from '../../verbs/index.ts'
import type { Place } from './index-contract.ts'
import type { ListenPlace } from './listen-place.ts'

/**
 * Takes connections of clients on other machines that READ the memory of a node. They can do nothing else with them:
 * the queue pairs have no other right, and no receives.
 */
export class ReadListener {
  readonly place: Place
  readonly domain: ProtectionDomain
  readonly #device: Device
  readonly #listener: Listener
  readonly #connections = new Set<Connection>()

  private constructor(device: Device, domain: ProtectionDomain, listener: Listener, place: Place) {
    this.#device = device
    this.domain = domain
    this.#listener = listener
    this.place = place
  }

  static async open({ address, told = address }: ListenPlace, deviceName: string): Promise<ReadListener> {
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

  close(): void {
    this.#listener.close()
    for (const connection of this.#connections) connection.close()
    this.#device.close()
  }

  async #serve(): Promise<void> {
    for await (const request of this.#listener) void this.#accept(request)
  }

  async #accept(request: ConnectionRequest): Promise<void> {
    const rights = { domain: this.domain, access: Access.RemoteRead, maxSendRequests: 1, maxReceiveRequests: 1 }
    // The client may have gone meanwhile.
    const connection = await request.accept(rights).catch(() => undefined)
    if (connection === undefined) return
    this.#connections.add(connection.unref())
    await connection.closed
    this.#connections.delete(connection)
    connection.close()
  }
}
