import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { IndexNode } from '../index-service/index.ts'
import { doorCommandNamed } from './commands/door-table.ts'
import { DoorConnection } from './connection/door-connection.ts'
import { DoorServices, type DoorSettings } from './door-services.ts'

const TOO_MANY = '-ERR max number of clients reached\r\n'
/** How often idle and slow clients are looked for. */
const SWEEP_MS = 1000

/** Takes clients of Redis to an index. */
export class RedisDoor implements AsyncDisposable {
  readonly #services: DoorServices
  readonly #server: Server
  readonly #sweeper: NodeJS.Timeout

  private constructor(services: DoorServices) {
    this.#services = services
    const { tls } = services.settings
    const take = (socket: Socket): void => this.#take(socket)
    this.#server =
      tls === undefined
        ? createServer(take)
        : createTlsServer({ ...tls, requestCert: tls.ca !== undefined, rejectUnauthorized: true }, take)
    this.#sweeper = setInterval(() => services.limits.sweep(services.clients), SWEEP_MS).unref()
  }

  /** @throws Error of the system if it cannot listen there. */
  static async open(node: IndexNode, settings: DoorSettings): Promise<RedisDoor> {
    const door = new RedisDoor(new DoorServices(node, settings, (name) => doorCommandNamed(name) !== undefined))
    try {
      door.#server.listen(settings.port, settings.address)
      await once(door.#server, 'listening')
    } catch (error) {
      door.#end()
      throw error
    }
    door.#services.port = door.port
    node.showDoor({ address: settings.announce, port: door.port })
    return door
  }

  /** The port on which it listens. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Connections end at once. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    this.#end()
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const client of this.#services.clients) client.line.destroy()
    await closed
  }

  /** Nothing of it is known to the node any more. */
  #end(): void {
    clearInterval(this.#sweeper)
    this.#services.publisher.stop()
    this.#services.notifications.flags = new Set()
  }

  #take(socket: Socket): void {
    const { clients, parameters, activity } = this.#services
    if (clients.size < parameters.clientsMax) {
      activity.statistics.connections += 1
      new DoorConnection(this.#services, socket)
      return
    }
    activity.statistics.refusedConnections += 1
    socket.on('error', () => undefined)
    socket.end(TOO_MANY)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
