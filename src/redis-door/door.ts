import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { IndexNode } from '../index-service/index.ts'
import { doorCommandNamed } from './commands/door-table.ts'
import { Connection } from './connection/connection.ts'
import { DoorServices, type DoorSettings } from './door-services.ts'
import type { Scripts } from './scripts/scripts.ts'

const TOO_MANY = '-ERR max number of clients reached\r\n'

/** Takes clients of Redis to an index. */
export class RedisDoor implements AsyncDisposable {
  readonly #services: DoorServices
  readonly #server: Server

  private constructor(services: DoorServices) {
    this.#services = services
    this.#server = createServer((socket) => {
      if (services.clients.size >= services.settings.clientsMax) {
        socket.on('error', () => undefined)
        socket.end(TOO_MANY)
      } else new Connection(services, socket)
    })
  }

  /** @throws Error of the system if it cannot listen there. */
  static async open(node: IndexNode, settings: DoorSettings): Promise<RedisDoor> {
    const door = new RedisDoor(new DoorServices(node, settings, (name) => doorCommandNamed(name) !== undefined))
    door.#server.listen(settings.port, settings.address)
    await once(door.#server, 'listening')
    node.showDoor({ address: settings.announce, port: door.port })
    return door
  }

  /** The port on which it listens. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Its scripts, and how long they may run. */
  get scripts(): Scripts {
    return this.#services.scripts
  }

  /** Connections end at once. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#services.publisher.stop()
    for (const client of this.#services.clients) client.line.destroy()
    await closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
