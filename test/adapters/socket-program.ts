import fc from 'fast-check'
import type { SocketCluster } from './socket-cluster.ts'
import type { AnyNode, Target } from './socket-node.ts'

/** Servers on which a program runs. */
export const SERVERS: number = 3
const CLIENTS = ['a', 'b', 'c', 'd'] as const
const ROOMS = ['red', 'green', 'blue']
const LONG_MS = 60_000
const VOLATILE_TIMES = 4

/** What a program does; `server` is which server does it. */
export interface Step {
  readonly server: number
  readonly kind:
    | 'emit'
    | 'volatile'
    | 'ask'
    | 'fetch'
    | 'join'
    | 'leave'
    | 'disconnect'
    | 'broadcast'
    | 'tell'
    | 'question'
    | 'count'
  readonly client: string
  readonly target: Target
  readonly rooms: readonly string[]
  readonly value: unknown
}

const rooms = fc.uniqueArray(fc.constantFrom(...ROOMS), { maxLength: 2 })

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    server: fc.nat(SERVERS - 1),
    kind: fc.oneof(
      { arbitrary: fc.constant('disconnect' as const), weight: 1 },
      {
        arbitrary: fc.constantFrom(
          ...(['emit', 'ask', 'fetch', 'join', 'leave', 'broadcast', 'tell', 'question', 'count'] as const),
        ),
        weight: 12,
      },
    ),
    client: fc.constantFrom(...CLIENTS),
    target: fc.record({ rooms, except: rooms, local: fc.boolean(), volatile: fc.constant(false) }),
    rooms,
    value: fc.jsonValue({ maxDepth: 2 }),
  }),
  { minLength: 1, maxLength: 12 },
)

/** A namespace of its own for each run: what was there before does not count. */
export class Program {
  readonly #nodes: readonly AnyNode[]
  readonly #namespace: string

  constructor({ nodes }: SocketCluster, namespace: string) {
    this.#nodes = nodes
    this.#namespace = namespace
  }

  /** All that anyone can see of it. */
  async run(program: readonly Step[]): Promise<unknown> {
    for (const [at, name] of CLIENTS.entries()) await this.#nodes[at % SERVERS]!.connect(name, this.#namespace)
    await Promise.all(this.#nodes.map((node) => node.knows(SERVERS, this.#namespace)))
    const results: unknown[] = []
    for (const step of program) {
      results.push(await this.#do(step))
      await this.#settle()
    }
    const received: unknown[] = []
    for (const [at, name] of CLIENTS.entries()) {
      const events = await this.#nodes[at % SERVERS]!.received(name)
      received.push(once(events.filter(([event]) => event !== 'mark')))
    }
    const asked = await Promise.all(this.#nodes.map((node) => node.takesAsked()))
    return { results, received, asked }
  }

  async #do({ server, kind, client, target: plain, rooms: some, value }: Step): Promise<unknown> {
    const node = this.#nodes[server]!
    const target = { ...plain, namespace: this.#namespace }
    const everywhere = { ...target, local: false }
    switch (kind) {
      case 'emit':
        return await node.emit(target, 'event', value)
      case 'volatile':
        // A volatile message may be dropped, at any time. One of several is not.
        for (let time = 0; time < VOLATILE_TIMES; time += 1) {
          await node.emit({ ...target, volatile: true }, 'volatile', value)
          await this.#settle()
        }
        return undefined
      case 'ask':
        return await node.emitWithAck(everywhere, LONG_MS, 'question', value)
      case 'fetch':
        return (await node.fetchSockets(target)).map(({ name, rooms: there, isRemote }) => [name, there, isRemote])
      case 'join':
        return await node.socketsJoin(target, ...some)
      case 'leave':
        return await node.socketsLeave(target, ...some)
      case 'disconnect':
        return await node.disconnectSockets(target)
      case 'broadcast':
        return await this.#nodes[CLIENTS.indexOf(client as 'a') % SERVERS]!.broadcastFrom(client, 'from', value)
      case 'tell':
        return await node.serverSideEmit(this.#namespace, 'told', value)
      case 'question':
        return await node.serverSideEmitWithAck(this.#namespace, 'asked', value)
      default:
        return await node.serverCount(this.#namespace)
    }
  }

  /** All clients and servers have seen what the step did. */
  async #settle(): Promise<void> {
    for (const node of this.#nodes) {
      await node.serverSideEmitWithAck(this.#namespace, 'asked', 'mark')
      await node.emitWithAck({ namespace: this.#namespace }, LONG_MS, 'mark')
    }
    for (const node of this.#nodes) await node.settle()
  }
}

/** Of volatile messages that follow each other, the first. */
function once(events: readonly unknown[][]): readonly unknown[][] {
  return events.filter(([event, value], at) => {
    const [before, valueBefore] = events[at - 1] ?? []
    return event !== 'volatile' || before !== 'volatile' || value !== valueBefore
  })
}
