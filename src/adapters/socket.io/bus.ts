import process from 'node:process'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { bytes, type Follower, type SharedLog, type SharedQueue, type Structures } from '../../structures/index.ts'
import { addressOf, isPresent, slotOf } from './address.ts'
import { ReceivedEnvelope } from './envelope.ts'
import { type LogBoundsOptions, Outgoing } from './outgoing.ts'
import { Registry } from './registry.ts'
import { warn } from './report.ts'
import { Sessions } from './sessions.ts'

/** What is shared in the space, and how much of it is kept. */
export interface BusOptions extends LogBoundsOptions {
  readonly name: string
}

/** A server in one namespace, as the bus sees it. */
export interface Station {
  readonly namespace: string
  readonly address: string
  /** A message to all servers of the namespace; this one's own, too. */
  receive(envelope: ReceivedEnvelope, index: number): void
  /** An answer to this server. */
  receiveAnswer(envelope: ReceivedEnvelope): void
  /** This number of messages, of any namespace, was dropped before this process could read them. */
  missed(count: number): void
  /** A process has left the space, perhaps. */
  membersChanged(): void
  /** The bus does not work any more. */
  failed(error: unknown): void
}

/** A message, and its index in the log. */
export interface PassedOn {
  readonly envelope: ReceivedEnvelope
  readonly index: number
}

/** Messages that are passed on before other work of this process has its turn. */
const BATCH = 64
/** Answers that wait in the queue of one process. */
const ANSWERS_MAX = 10_000

const buses = new WeakMap<Structures, Map<string, Promise<Bus>>>()

/**
 * What carries the messages of all servers of this process, in all namespaces.
 *
 * 1. A message to all is appended to one log, and every process passes on what is in the log, in its order: the sender
 *    too. So clients of all workers see the same order, and an index of the log says what a client has seen.
 * 2. An answer goes to the queue of the member that asked.
 * 3. No process waits for another: one that does not read costs the others nothing. It finds that the log went on
 *    without it, and is told how many messages it missed.
 */
export class Bus {
  readonly registry: Registry
  readonly sessions: Sessions
  readonly #structures: Structures
  readonly #options: BusOptions
  readonly #log: SharedLog<Uint8Array>
  readonly #outgoing: Outgoing
  readonly #follower: Follower<Uint8Array>
  readonly #stations = new Map<string, Map<string, Station>>()
  readonly #answerQueues = new Map<number, Promise<SharedQueue<Uint8Array>>>()
  readonly #closing = new AbortController()
  readonly #stopListening: () => void

  /** The one of this process for these structures and this name. */
  static of(structures: Structures, options: BusOptions): Promise<Bus> {
    const known = buses.get(structures) ?? new Map<string, Promise<Bus>>()
    buses.set(structures, known)
    const { name } = options
    const there = known.get(name)
    if (there !== undefined) return there
    const made = Bus.#open(structures, options)
    known.set(name, made)
    made.catch(() => known.delete(name))
    return made
  }

  static async #open(structures: Structures, options: BusOptions): Promise<Bus> {
    const { name, capacity, capacityBytes } = options
    const log = await structures.log(name, { codec: bytes, capacity, capacityBytes, valueBytesMax: capacityBytes })
    const registry = await Registry.open(structures, name)
    const sessions = await Sessions.open(structures, name)
    return new Bus(structures, options, { log, registry, sessions })
  }

  private constructor(
    structures: Structures,
    options: BusOptions,
    { log, registry, sessions }: { log: SharedLog<Uint8Array>; registry: Registry; sessions: Sessions },
  ) {
    this.#structures = structures
    this.#options = options
    this.#log = log
    this.registry = registry
    this.sessions = sessions
    this.#outgoing = new Outgoing(log, options)
    this.#follower = log.follow({ from: 'next' })
    this.#stopListening = structures.peers.onChange(() => this.#tell((station) => station.membersChanged()))
    this.#run(() => this.#passOn())
    this.#run(() => this.#takeAnswers())
  }

  get closed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Messages below this index have been passed on to the stations. */
  get position(): number {
    return this.#follower.position
  }

  addressOf(identity: string): string {
    return addressOf(this.#structures.peers, identity)
  }

  attach(station: Station): void {
    const there = this.#stations.get(station.namespace) ?? new Map<string, Station>()
    this.registry.add(station.namespace, station.address)
    this.#stations.set(station.namespace, there.set(station.address, station))
  }

  /** The last one closes the bus. */
  detach({ namespace, address }: Station): void {
    const there = this.#stations.get(namespace)
    if (!there?.delete(address)) return
    if (there.size === 0) this.#stations.delete(namespace)
    if (this.#stations.size === 0) this.#close()
    if (!this.#structures.closed) this.registry.remove(namespace, address)
  }

  /** To all servers of a namespace. `failed` is called if they will not get it. */
  send(envelope: Uint8Array, failed: (error: unknown) => void): void {
    this.#outgoing.send(envelope, failed)
  }

  /** To the server at `address`; false if it has ended. Rejects if the answer cannot be sent. */
  async answer(address: string, envelope: Uint8Array): Promise<boolean> {
    if (!isPresent(this.#structures, address)) return false
    const queue = await this.#answersOf(slotOf(address))
    if (queue.tryPushSync(envelope)) return true
    throw new Error(`${ANSWERS_MAX} answers wait in '${queue.name}': its process does not take them`)
  }

  /** Whether the server at `address` is still there. */
  isPresent(address: string): boolean {
    return isPresent(this.#structures, address)
  }

  /**
   * The messages of a namespace from index `from` up to those that this process has passed on. Undefined if any message
   * since then was dropped.
   */
  passedOn(namespace: string, from: number): readonly PassedOn[] | undefined {
    const found: PassedOn[] = []
    const end = this.position
    if (this.#log.boundsSync().first > from) return undefined
    for (let next = from; next < end; ) {
      const entries = this.#log.readSync(next, Math.min(BATCH, end - next))
      if (entries.length === 0 || entries.some(({ missed }) => missed > 0)) return undefined
      for (const { index, value } of entries) {
        const envelope = new ReceivedEnvelope(value)
        if (envelope.to === namespace) found.push({ envelope, index })
      }
      next += entries.length
    }
    return found
  }

  /** Resolves when this process has passed on the message of that index; false if there is no such message. */
  async hasReached(index: number): Promise<boolean> {
    if (index >= this.#log.boundsSync().end) return false
    while (this.position <= index && !this.closed) await nextTurn()
    return !this.closed
  }

  /** Passes on messages until the bus closes. */
  async #passOn(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#follower.next()
      if (done) return
      this.#receive(value)
      for (let count = 1; count < BATCH && !this.closed; count += 1) {
        const entry = this.#follower.tryNextSync()
        if (entry === undefined) break
        this.#receive(entry)
      }
      if (this.closed) return
      this.#outgoing.reached(this.position)
      await nextTurn()
    }
  }

  #receive({ index, value, missed }: { index: number; value: Uint8Array; missed: number }): void {
    if (missed > 0) this.#tellMissed(missed)
    const envelope = new ReceivedEnvelope(value)
    for (const station of this.#stations.get(envelope.to)?.values() ?? [])
      guarded(() => station.receive(envelope, index))
  }

  #tellMissed(count: number): void {
    const why = `this process was too slow for ${count} messages of '${this.#log.name}', which were dropped`
    warn('AETHER_SOCKET_IO_MISSED', `${why}; raise capacity or capacityBytes of createAdapter, or give it less to do`)
    this.#tell((station) => station.missed(count))
  }

  async #takeAnswers(): Promise<void> {
    const queue = await this.#answersOf(this.#structures.peers.slot)
    for (let count = 1; ; count += 1) {
      const envelope = new ReceivedEnvelope(await queue.pop({ signal: this.#closing.signal }))
      for (const stations of this.#stations.values()) {
        const station = stations.get(envelope.to)
        if (station !== undefined) guarded(() => station.receiveAnswer(envelope))
      }
      if (count % BATCH === 0) await nextTurn()
    }
  }

  #answersOf(slot: number): Promise<SharedQueue<Uint8Array>> {
    const { name, capacityBytes } = this.#options
    const known = this.#answerQueues.get(slot)
    if (known !== undefined) return known
    const options = { codec: bytes, capacity: ANSWERS_MAX, valueBytesMax: capacityBytes }
    const made = this.#structures.queue(`${name}:answers-${slot}`, options)
    this.#answerQueues.set(slot, made)
    made.catch(() => this.#answerQueues.delete(slot))
    return made
  }

  #tell(what: (station: Station) => void): void {
    for (const stations of this.#stations.values())
      for (const station of stations.values()) guarded(() => what(station))
  }

  /** Run it until the bus closes. What ends it before is told to all. */
  #run(work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      if (this.closed) return
      this.#tell((station) => station.failed(error))
      this.#close()
    })
  }

  #close(): void {
    buses.get(this.#structures)?.delete(this.#options.name)
    this.#stopListening()
    if (!this.#structures.closed) this.#outgoing.flush()
    this.#closing.abort()
    this.#follower.close()
  }
}

/** A listener of the user's that throws must not end the bus: it is an uncaught exception, as in any event. */
function guarded(work: () => void): void {
  try {
    work()
  } catch (error) {
    process.nextTick(() => {
      throw error
    })
  }
}
