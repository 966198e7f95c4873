import { Buffer } from 'node:buffer'
import type { IndexNode } from '../index-service/index.ts'
import { doorCommandNamed } from './commands/door-table.ts'
import { DoorConnection } from './connection/door-connection.ts'
import { DoorServices } from './door-services.ts'
import type { DoorSettings } from './settings/door-settings.ts'
import type { ByteStream, Front, TakeStream } from './streams/byte-stream.ts'
import { NativeFront } from './streams/native-front.ts'
import { NodeFront } from './streams/node-front.ts'

const TOO_MANY = Buffer.from('-ERR max number of clients reached\r\n')
/** How often idle and slow clients are looked for. */
const SWEEP_MS = 1000

/** Takes clients of Redis to an index. */
export class RedisDoor implements AsyncDisposable {
  readonly #services: DoorServices
  readonly #sweeper: NodeJS.Timeout
  #front: Front | undefined
  #closing: Promise<void> | undefined

  private constructor(services: DoorServices) {
    this.#services = services
    this.#sweeper = setInterval(() => services.limits.sweep(services.clients), SWEEP_MS).unref()
  }

  /** @throws SystemError if it cannot listen there. */
  static async open(node: IndexNode, settings: DoorSettings): Promise<RedisDoor> {
    const door = new RedisDoor(new DoorServices(node, settings, (name) => doorCommandNamed(name) !== undefined))
    try {
      door.#front = await openFront(
        settings,
        (stream) => door.#take(stream),
        (turn) => door.#services.router.gather(turn),
      )
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
    return this.#front!.port
  }

  /** Connections end at once. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#end()
    const closed = this.#front!.close()
    for (const client of this.#services.clients) client.line.destroy()
    await closed
  }

  /** Nothing of it is known to the node any more. */
  #end(): void {
    clearInterval(this.#sweeper)
    this.#services.publisher.stop()
    this.#services.notifications.flags = new Set()
    this.#services.tracking.close()
  }

  #take(stream: ByteStream): void {
    const { clients, parameters, activity } = this.#services
    if (clients.size < parameters.clientsMax) {
      activity.statistics.connections += 1
      new DoorConnection(this.#services, stream)
      return
    }
    activity.statistics.refusedConnections += 1
    stream.write(TOO_MANY)
    stream.end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Node.js has what encrypts. */
function openFront(
  { address, port, tls, front = 'native', ioThreads }: DoorSettings,
  take: TakeStream,
  gather: (turn: () => void) => void,
): Promise<Front> {
  if (tls !== undefined)
    return NodeFront.open(address, port, take, { ...tls, requestCert: tls.ca !== undefined, rejectUnauthorized: true })
  return front === 'native'
    ? NativeFront.open(address, port, take, { threads: ioThreads, gather })
    : NodeFront.open(address, port, take)
}
