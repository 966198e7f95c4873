import * as door from '../../../src/public/cm.ts'
import { QueuePairState } from '../../../src/public/verbs.ts'
import { inLists, type Recipe, type Recipes } from '../recipe.ts'

const where = { device: 'shm0', address: '127.0.0.1' } as const
/** An address at which no one listens. */
const nobody = { address: '127.0.0.1', port: 1, family: 4 } as const
const group = { address: '239.1.2.3', port: 0, family: 4 } as const
const endpoint = { gid: 1n, queuePairNumber: 20, psn: 1 }
const parameters: door.ConnectionParameters = {
  privateData: new Uint8Array(8),
  responderResources: 1,
  initiatorDepth: 1,
  flowControl: false,
  retryCount: 6,
  rnrRetryCount: 7,
  sharedReceive: false,
  endpoint,
}

/** Over the embedded device: a listener that accepts everything, and one whose requests calls may answer. */
export async function cmRecipes(): Promise<Recipes> {
  const served = await door.listen(where)
  void serve(served)
  const requests = new Requests(await door.listen(where))
  const idle = new Renewed(() => door.listen(where))
  const connections = new Renewed(() => door.connect({ ...where, port: served.port }))
  const identifiers = new Identifiers()
  await identifiers.listen()
  const onRequest = { self: () => requests.take() }
  const onNew = (...args: readonly unknown[]): Recipe => ({
    self: () => identifiers.make(),
    args: () => args,
    after: () => identifiers.destroy(),
  })
  const onAsked = (...args: readonly unknown[]): Recipe => ({
    ...onNew(...args),
    self: () => identifiers.asked(),
  })
  return {
    module: door,
    objects: inLists({ Listener: served }),
    values: { text: () => door.encodeEndpoint(endpoint), endpoint: () => endpoint },
    data: ['local', 'remote', 'source', 'destination', 'group', 'endpoint', 'handed', 'offer'],
    calls: {
      connect: { args: () => [{ ...where, port: served.port }] },
      listen: { args: () => [where] },
      resolve: { args: () => ['127.0.0.1', { device: 'shm0' }] },
      joinMulticast: { args: () => [{ device: 'shm0', address: group.address }] },
      createIdentifier: { args: () => [{ device: 'shm0' }] },
      takeRequest: {
        args: async () => [(await requests.take()).handOver()],
        after: () => requests.end(),
      },
      'Listener.next': { self: () => idle.take(), args: () => [{}], waits: () => idle.end() },
      'Connection.disconnect': { self: () => connections.take(), args: () => [{}] },
      'ConnectionRequest.accept': { ...onRequest, args: () => [{}] },
      'ConnectionRequest.reject': { ...onRequest, args: () => [new Uint8Array(8)] },
      'ConnectionRequest.handOver': { ...onRequest, args: () => [() => {}], after: () => requests.end() },
      'ConnectionIdentifier.listen': onNew({ ...nobody, port: 0 }, 16),
      'ConnectionIdentifier.resolveAddress': onNew(undefined, nobody, 1000),
      'ConnectionIdentifier.resolveRoute': onNew(1000),
      'ConnectionIdentifier.connect': { ...onNew(parameters), self: () => identifiers.resolved() },
      'ConnectionIdentifier.accept': onAsked(parameters),
      'ConnectionIdentifier.reject': onAsked(new Uint8Array(8)),
      'ConnectionIdentifier.queuePairAttributes': onNew(QueuePairState.Init, endpoint),
      'ConnectionIdentifier.joinMulticast': onNew(group),
      'ConnectionIdentifier.leaveMulticast': onNew(group),
    },
    async close() {
      await requests.close()
      identifiers.close()
      await idle.end()
      await connections.end()
      served.close()
    },
  }
}

/** Accepts every request; what comes of one is its peer's matter. */
async function serve(listener: door.Listener): Promise<void> {
  for await (const request of listener) {
    request.accept().then(
      (connection) => connection.closed.then(() => connection.close()),
      () => undefined,
    )
  }
}

/** One that calls may end: then the next call gets another one. */
class Renewed<T extends door.Listener | door.Connection> {
  readonly #make: () => Promise<T>
  #present: T | undefined

  constructor(make: () => Promise<T>) {
    this.#make = make
  }

  async take(): Promise<T> {
    const present = this.#present
    const isOver = present === undefined || ('state' in present ? present.state !== 'connected' : present.closed)
    if (!isOver) return present
    await this.end()
    this.#present = await this.#make()
    return this.#present
  }

  async end(): Promise<void> {
    this.#present?.close()
    this.#present = undefined
  }
}

/** Requests for connections, one at a time: a call may answer it. */
class Requests {
  readonly #listener: door.Listener
  #asked: Promise<door.Connection | undefined> = Promise.resolve(undefined)
  #request: door.ConnectionRequest | undefined

  constructor(listener: door.Listener) {
    this.#listener = listener
  }

  async take(): Promise<door.ConnectionRequest> {
    if (this.#request?.pending === true) return this.#request
    await this.end()
    this.#asked = door.connect({ ...where, port: this.#listener.port }).catch(() => undefined)
    this.#request = await this.#listener.next()
    return this.#request!
  }

  async end(): Promise<void> {
    this.#request?.reject()
    this.#request = undefined
    const asking = await this.#asked
    asking?.close()
  }

  async close(): Promise<void> {
    await this.end()
    this.#listener.close()
  }
}

/** Identifiers, one at a time: a call may use it up. */
class Identifiers {
  readonly #listening = door.createIdentifier({ device: 'shm0' })
  #arrived: (identifier: door.ConnectionIdentifier) => void = () => undefined
  #present: door.ConnectionIdentifier | undefined

  async listen(): Promise<void> {
    this.#listening.onEvent = (event) => {
      if (event.type === 'connect-request') this.#arrived(event.identifier)
    }
    await this.#listening.listen({ ...nobody, port: 0 }, 16)
  }

  make(): door.ConnectionIdentifier {
    this.destroy()
    this.#present = door.createIdentifier({ device: 'shm0' })
    return this.#present
  }

  /** One that may connect. */
  resolved(): door.ConnectionIdentifier {
    const identifier = this.make()
    identifier.resolveAddress(undefined, nobody, 1000)
    return identifier
  }

  /** One that came with a request. */
  async asked(): Promise<door.ConnectionIdentifier> {
    this.destroy()
    const arrived = new Promise<door.ConnectionIdentifier>((done) => {
      this.#arrived = done
    })
    const { port } = this.#listening.local!
    // The call answers it, or else it is lost when the identifier is destroyed.
    door.connect({ ...where, port }).then(
      (connection) => connection.close(),
      () => undefined,
    )
    this.#present = await arrived
    return this.#present
  }

  destroy(): void {
    this.#present?.destroy()
    this.#present = undefined
  }

  close(): void {
    this.destroy()
    this.#listening.destroy()
  }
}
