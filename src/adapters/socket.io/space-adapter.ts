import { randomUUID } from 'node:crypto'
import {
  type BroadcastOptions,
  ClusterAdapter,
  type ClusterMessage,
  type ClusterResponse,
  MessageType,
  type Session,
} from 'socket.io-adapter'
import { messageOfThrown } from '../../native/index.ts'
import type { Structures } from '../../structures/index.ts'
import { Lease } from '../lease.ts'
import type { AetherAdapter, ServedNamespace } from './aether-adapter.ts'
import { Bus, type BusOptions, type Station } from './bus.ts'
import { type EncodedBody, encodeBody, ReceivedEnvelope, seal } from './envelope.ts'
import { type Question, Questions } from './questions.ts'
import { indexOf, missedEvent, offsetOf, plainOptions } from './recovery.ts'
import { warn } from './report.ts'
import type { PlainSession } from './sessions.ts'

/** How long a server waits for others unless told otherwise; the same as in Socket.IO's own adapters. */
const ANSWER_TIMEOUT_MS = 5000
/** After the space could not be opened. */
const RETRY_MS = 1000
/** The offset of an event that is not in the log. No session is restored from it. */
const NO_OFFSET = ''

/** A question, but for the servers that it waits for. */
type Asking = Omit<Question<ClusterResponse>, 'missing'>

/**
 * One server in one namespace. It sends messages, and asks other servers; the base class applies messages once they
 * come back from the log.
 */
export class SpaceAdapter extends ClusterAdapter implements AetherAdapter, Station {
  readonly #lease: Lease
  readonly #options: BusOptions
  readonly #questions = new Questions<ClusterResponse>()
  #address: string
  #bus: Bus | undefined
  #opening: Promise<void> | undefined
  #retry: NodeJS.Timeout | undefined
  #failure: unknown
  #closed = false
  /** What was called before the space was open. */
  #waiting: (() => void)[] | undefined = []
  /** How many servers the broadcast of this turn waits for: Socket.IO asks for the number only afterwards. */
  #counted: number | undefined

  constructor(nsp: ServedNamespace, where: string | Structures, options: BusOptions) {
    super(nsp)
    this.#lease = new Lease(where)
    this.#options = options
    this.#address = `alone.${this.uid}`
    this.ready().catch(ignore)
  }

  get namespace(): string {
    return (this.nsp as ServedNamespace).name
  }

  get address(): string {
    return this.#address
  }

  ready(): Promise<void> {
    this.#opening ??= this.#open()
    return this.#opening
  }

  override async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#retry)
    await this.#opening?.catch(ignore)
    this.#leave()
    await this.#lease.release()
  }

  override async serverCount(): Promise<number> {
    if (this.#counted !== undefined) return this.#counted
    await this.ready().catch(ignore)
    return this.#counted ?? this.#servers().length
  }

  /** @throws TypeError for what JSON cannot represent. */
  override broadcast(packet: unknown, opts: BroadcastOptions): Promise<void> {
    if (opts.flags?.local) return super.broadcast(packet, opts)
    return this.#send({ type: MessageType.BROADCAST, data: { packet, opts: plainOptions(opts) } })
  }

  override broadcastWithAck(
    packet: unknown,
    opts: BroadcastOptions,
    clientCountCallback: (clientCount: number) => void,
    ack: (...args: unknown[]) => void,
  ): void {
    if (opts.flags?.local) {
      this.#count(1)
      super.broadcastWithAck(packet, opts, clientCountCallback, ack)
      return
    }
    const requestId = randomUUID()
    const body = encodeBody({ type: MessageType.BROADCAST, data: { packet, requestId, opts: plainOptions(opts) } })
    this.#whenOpen(() => {
      const servers = this.#servers()
      this.#count(servers.length)
      const asking = acknowledgements(clientCountCallback, ack)
      this.#questions.ask(requestId, { ...asking, missing: new Set(servers) }, opts.flags?.timeout ?? 0)
      this.#post(body)
    })
  }

  override addSockets(opts: BroadcastOptions, rooms: string[]): Promise<void> {
    if (opts.flags?.local) return super.addSockets(opts, rooms)
    return this.#send({ type: MessageType.SOCKETS_JOIN, data: { opts: plainOptions(opts), rooms } })
  }

  override delSockets(opts: BroadcastOptions, rooms: string[]): Promise<void> {
    if (opts.flags?.local) return super.delSockets(opts, rooms)
    return this.#send({ type: MessageType.SOCKETS_LEAVE, data: { opts: plainOptions(opts), rooms } })
  }

  override disconnectSockets(opts: BroadcastOptions, close: boolean): Promise<void> {
    if (opts.flags?.local) return super.disconnectSockets(opts, close)
    return this.#send({ type: MessageType.DISCONNECT_SOCKETS, data: { opts: plainOptions(opts), close } })
  }

  /** Sockets of this server as they are, those of others as descriptions. Rejects if an answer is missing in time. */
  override fetchSockets(opts: BroadcastOptions): Promise<unknown[]> {
    if (opts.flags?.local) return super.fetchSockets(opts)
    const requestId = randomUUID()
    const body = encodeBody({ type: MessageType.FETCH_SOCKETS, data: { requestId, opts: plainOptions(opts) } })
    const timeoutMs = opts.flags?.timeout || ANSWER_TIMEOUT_MS
    return new Promise((resolve, reject) => {
      const sockets: unknown[] = []
      const asking: Asking = {
        answer: ({ data }) => sockets.push(...(data as { sockets: unknown[] }).sockets),
        done: () => resolve(sockets),
        fail: reject,
      }
      this.#whenOpen(() => {
        this.#questions.ask(requestId, { ...asking, missing: new Set(this.#servers()) }, timeoutMs)
        this.#post(body)
      })
    })
  }

  /** To the other servers; their answers if the last argument is a function. */
  override async serverSideEmit(packet: unknown[]): Promise<void> {
    const ack = packet.at(-1)
    if (typeof ack !== 'function') return await this.#send({ type: MessageType.SERVER_SIDE_EMIT, data: { packet } })
    const requestId = randomUUID()
    const body = encodeBody({ type: MessageType.SERVER_SIDE_EMIT, data: { requestId, packet: packet.slice(0, -1) } })
    const answers: unknown[] = []
    const asking: Asking = {
      answer: ({ data }) => answers.push((data as { packet: unknown }).packet),
      done: () => ack(null, answers),
      fail: (error) => ack(error, answers),
    }
    this.#whenOpen(() => {
      const others = this.#servers().filter((address) => address !== this.#address)
      this.#questions.ask(requestId, { ...asking, missing: new Set(others) }, ANSWER_TIMEOUT_MS)
      if (others.length > 0) this.#post(body)
    })
  }

  /** Called when the connection of a client breaks. */
  override persistSession(session: PlainSession): void {
    const { maxDisconnectionDuration } = this.nsp.server.opts.connectionStateRecovery
    try {
      this.#bus?.sessions.keep(this.namespace, session, maxDisconnectionDuration)
    } catch (error) {
      warn('AETHER_SOCKET_IO_SESSION_LOST', `a client cannot recover its session: ${messageOfThrown(error)}`)
    }
  }

  /** Resolves with null if the session is over, or messages that the client missed were dropped. */
  override async restoreSession(pid: string, offset: string): Promise<Session> {
    return (await this.#restore(pid, offset)) ?? (null as unknown as Session)
  }

  receive(envelope: ReceivedEnvelope, index?: number): void {
    const isOwn = envelope.from === this.#address
    const message = this.#messageIn(envelope)
    if (message.type === MessageType.ADAPTER_CLOSE) this.#questions.lose((server) => server === envelope.from)
    else if (isOwn && message.type === MessageType.FETCH_SOCKETS) this.#fetchOwn(message.data)
    else if (!isOwn || message.type !== MessageType.SERVER_SIDE_EMIT) this.onMessage(message, this.#offsetOf(index))
  }

  receiveAnswer(envelope: ReceivedEnvelope): void {
    this.onResponse({ ...(envelope.open() as ClusterResponse), uid: envelope.from })
  }

  missed(count: number): void {
    this.emit('missed', count)
  }

  membersChanged(): void {
    this.#questions.lose((server) => this.#bus?.isPresent(server) === false)
  }

  failed(error: unknown): void {
    this.#bus = undefined
    this.#failure = error
    if (this.#closed) return
    this.#retry = setTimeout(() => {
      this.#opening = undefined
      this.ready().catch(ignore)
    }, RETRY_MS).unref()
  }

  protected override onResponse(response: ClusterResponse): void {
    const { type, uid, data } = response
    // A server has one answer to each question, but for those of its clients.
    if (type === MessageType.BROADCAST_ACK) this.#questions.more(data.requestId, response)
    else this.#questions.answer(data.requestId, uid, response)
  }

  /** Called by the base class for no message that this class sends. */
  protected override async doPublish({ type, ...more }: ClusterMessage): Promise<string> {
    const { data } = more as { data?: unknown }
    await this.#send({ type, data })
    return NO_OFFSET
  }

  protected override async doPublishResponse(to: string, response: ClusterResponse): Promise<void> {
    const { type, data } = response
    if (to === this.#address) {
      this.onResponse({ ...response, uid: to })
      return
    }
    try {
      await this.#bus?.answer(to, seal({ from: this.#address, to, body: encodeBody({ type, data }) }))
    } catch (error) {
      this.#notSent(error)
    }
  }

  async #open(): Promise<void> {
    try {
      const bus = await this.#openBus()
      this.#address = bus.addressOf(this.uid)
      bus.attach(this)
      this.#bus = bus
    } catch (error) {
      this.failed(error)
      throw error
    } finally {
      const waiting = this.#waiting ?? []
      this.#waiting = undefined
      for (const work of waiting) work()
    }
  }

  async #openBus(): Promise<Bus> {
    for (;;) {
      const bus = await Bus.of(await this.#lease.structures(), this.#options)
      // Its last server may have left meanwhile.
      if (!bus.closed) return bus
    }
  }

  #leave(): void {
    const bus = this.#bus
    this.#post(encodeBody({ type: MessageType.ADAPTER_CLOSE }))
    this.#bus = undefined
    bus?.detach(this)
    this.#questions.close()
  }

  #whenOpen(work: () => void): void {
    if (this.#waiting === undefined) work()
    else this.#waiting.push(work)
  }

  /** Encoded now: the caller may change what it sends afterwards. */
  #send(message: { type: MessageType; data: unknown }): Promise<void> {
    const body = encodeBody(message)
    this.#whenOpen(() => this.#post(body))
    return Promise.resolve()
  }

  #post(body: EncodedBody): void {
    const bytes = seal({ from: this.#address, to: this.namespace, body })
    if (this.#bus === undefined) this.#applyAlone(bytes, this.#failure)
    else this.#bus.send(bytes, (error) => this.#applyAlone(bytes, error))
  }

  /** What cannot be sent still reaches the clients of this server. */
  #applyAlone(bytes: Uint8Array, error: unknown): void {
    this.#notSent(error)
    this.receive(new ReceivedEnvelope(bytes))
  }

  #notSent(error: unknown): void {
    if (this.#closed) return
    warn('AETHER_SOCKET_IO_NOT_SENT', `a message did not reach other workers: ${messageOfThrown(error)}`)
    this.emit('not-sent', error)
  }

  /** All servers of this namespace; this one, too. */
  #servers(): readonly string[] {
    return this.#bus?.registry.serving(this.namespace) ?? [this.#address]
  }

  #count(servers: number): void {
    this.#counted = servers
    setImmediate(() => {
      this.#counted = undefined
    })
  }

  #messageIn(envelope: ReceivedEnvelope): ClusterMessage {
    return { ...(envelope.open() as ClusterMessage), uid: envelope.from, nsp: envelope.to }
  }

  #offsetOf(index: number | undefined): string {
    return index === undefined || this.#bus === undefined ? NO_OFFSET : offsetOf(this.#bus.registry.generation, index)
  }

  #fetchOwn({ requestId, opts }: { requestId: string; opts: ReturnType<typeof plainOptions> }): void {
    const { rooms, except } = opts
    const local = { rooms: new Set(rooms), except: new Set(except), flags: { local: true } }
    void super.fetchSockets(local).then((sockets) => {
      const response = { type: MessageType.FETCH_SOCKETS_RESPONSE, data: { requestId, sockets } }
      this.onResponse({ ...response, uid: this.#address, nsp: this.namespace } as ClusterResponse)
    })
  }

  async #restore(pid: string, offset: string): Promise<Session | undefined> {
    await this.ready()
    const bus = this.#bus
    const index = bus && indexOf(bus.registry.generation, offset)
    // What this process has not passed on yet reaches the client as soon as it is connected.
    if (index === undefined || !(await bus?.hasReached(index))) return undefined
    const session = bus?.sessions.take(this.namespace, pid)
    const missed = bus?.passedOn(this.namespace, index + 1)
    if (session === undefined || missed === undefined) return undefined
    const missedPackets = missed.flatMap((message) => {
      const event = missedEvent(this.#messageIn(message.envelope), session.rooms)
      return event === undefined ? [] : [[...event, this.#offsetOf(message.index)]]
    })
    return { ...session, missedPackets }
  }
}

function ignore(): void {}

/** Each server says how many clients it asks, then each client answers. */
function acknowledgements(count: (clients: number) => void, ack: (...args: unknown[]) => void): Asking {
  let expected = 0
  return {
    answer({ type, data }) {
      if (type === MessageType.BROADCAST_ACK) {
        expected -= 1
        ack((data as { packet: unknown }).packet)
      } else {
        const { clientCount } = data as { clientCount: number }
        expected += clientCount
        count(clientCount)
      }
    },
    lost: () => count(0),
    isOpen: () => expected > 0,
    done: ignore,
    fail: ignore,
  }
}
