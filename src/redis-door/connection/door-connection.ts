import type { Buffer } from 'node:buffer'
import {
  type Call,
  type CommandSpec,
  commandNamed,
  type FaultReply,
  fitsArity,
  type Reply,
} from '../../index-service/index.ts'
import { readKeys } from '../catalogue/read-keys.ts'
import type { DoorCommand } from '../commands/door-command.ts'
import { doorCommandNamed } from '../commands/door-table.ts'
import type { DoorServices } from '../door-services.ts'
import { type DoorReply, NO_REPLY, NULL_ARRAY } from '../protocol/door-reply.ts'
import { isFault, ReplyWriter } from '../protocol/reply-writer.ts'
import { ProtocolFault, type Request } from '../protocol/request.ts'
import { type RequestLimits, RequestReader } from '../protocol/request-reader.ts'
import { shaped } from '../protocol/shape.ts'
import { faultOfThrown } from '../routing/faults.ts'
import { type DataRequest, isNoSlot } from '../routing/router.ts'
import type { PackedBatch, ShardLine } from '../routing/shard-line.ts'
import type { ByteStream, StreamOwner } from '../streams/byte-stream.ts'
import { type ClientLine, DoorClient, type Transaction } from './client.ts'
import { aborted, mayWrite, refusalOf, VALUE_BYTES_MAX } from './refusals.ts'
import { waited } from './waiting.ts'

/** Requests that are read before those before them are done. With more, the socket waits. */
const AHEAD_MAX = 1024
/** Calls of one connection that go to the index together. */
const TOGETHER_MAX = 256
const ARGUMENTS_MAX = 1024 * 1024
const LIMITS_BEFORE_AUTH = {
  argumentsMax: 10,
  bulkBytesMax: 16 * 1024,
  valueBytesMax: VALUE_BYTES_MAX,
  isAuthenticated: false,
}
/** Bytes of requests that are read before those before them are done. */
const AHEAD_BYTES_MAX = 16 * 2 ** 20
/** A short request that comes alone takes less as objects than to be packed. */
const PACKED_BYTES_LEAST = 96
/** Room for replies to reads that are answered together. */
const LOOK_REPLY_BYTES = 16 * 1024
/** With more that is not sent, it is sent, and looked whether that is too much. */
const UNSENT_BYTES_LOOK = 64 * 1024
/** Bytes that a client has not taken: until it has, nothing more is read from it. */
const UNSENT_BYTES_MAX = 1024 * 1024

/**
 * The connection of a client: its requests are done one after the other, and answered in that order. Consecutive ones
 * about one shard go there together.
 */
export class DoorConnection implements ClientLine, StreamOwner {
  readonly client: DoorClient
  readonly #door: DoorServices
  readonly #stream: ByteStream
  readonly #reader: RequestReader
  readonly #writer: ReplyWriter
  #end: AbortController | undefined
  #requests: Request[] = []
  #next = 0
  /** Bytes that were received since all requests were done. */
  #aheadBytes = 0
  /** What was sent after the requests is none. */
  #fault: ProtocolFault | undefined
  #isBusy = false
  #isEnding = false
  #isPushing = false
  #isClosed = false

  constructor(door: DoorServices, stream: ByteStream) {
    this.#door = door
    this.#stream = stream
    this.client = new DoorClient(door.clients.nextId(), this, door.users.default)
    this.client.isAuthenticated = door.users.isOpen
    this.#reader = new RequestReader(() => this.#limits())
    this.#writer = new ReplyWriter((code) => door.activity.statistics.fault(code))
    door.clients.add(this.client)
    stream.begin(this, door.parameters.keepAliveSeconds)
  }

  get address(): string {
    return this.#stream.address
  }

  get localAddress(): string {
    return this.#stream.localAddress
  }

  /** Most connections end without a look at it. */
  get ended(): AbortSignal {
    if (this.#end === undefined) {
      this.#end = new AbortController()
      if (this.#isClosed) this.#end.abort()
    }
    return this.#end.signal
  }

  get isEnding(): boolean {
    return this.#isEnding
  }

  get unsentBytes(): number {
    return this.#stream.unsentBytes
  }

  get heldBytes(): number {
    return this.#reader.heldBytes
  }

  /** CLIENT REPLY does not leave out what comes unasked. */
  push(reply: DoorReply): void {
    this.#writer.write(reply, this.client.protocol)
    this.#send()
  }

  pushBytes(bytes: Uint8Array): void {
    this.#writer.writeBytes(bytes)
    if (this.#isPushing) return
    this.#isPushing = true
    setImmediate(() => {
      this.#isPushing = false
      this.#send()
    })
  }

  end(): void {
    this.#isEnding = true
  }

  destroy(): void {
    this.#stream.destroy()
  }

  closed(): void {
    this.#isClosed = true
    this.#isEnding = true
    this.#end?.abort()
    this.client.blocked?.abort(null)
    this.#door.activity.monitors.delete(this.client)
    this.#door.publisher.subscriptions.removeAll(this.client)
    this.#door.tracking.stop(this.client)
    this.#door.clients.delete(this.client)
  }

  received(piece: Buffer): boolean {
    if (this.#isEnding) return false
    this.client.lastMs = Date.now()
    this.#door.activity.statistics.receivedBytes += piece.length
    this.#aheadBytes += piece.length
    const rest = this.#packWrites(this.#answerLooks(piece))
    this.#reader.push(rest)
    this.#go()
    if (this.#reader.heldBytes > this.#door.parameters.queryBytesMax) this.destroy()
    else this.#reader.settle()
    return rest.length > 0
  }

  /** Answer reads at the start of a piece out of memory. What is left of it is returned. */
  #answerLooks(piece: Buffer): Buffer {
    let rest = piece
    while (mayBeLook(rest) && this.#mayLook()) {
      const looks = this.#door.router.looks()
      const answered = looks?.answer(rest, this.#writer.room(LOOK_REPLY_BYTES), this.client) ?? 0
      if (answered === 0) break
      this.#writer.wrote(looks!.replyBytes)
      this.#door.activity.lookedAtMany(this.client, 'get', looks!.gets)
      this.#door.activity.lookedAtMany(this.client, 'hget', looks!.fieldGets)
      rest = rest.subarray(answered)
      if (rest.length > 0) this.#send()
    }
    return rest
  }

  /** Requests at the start of a piece go to the log as they came. What is left of it is returned. */
  #packWrites(piece: Buffer): Buffer {
    if (piece.length < PACKED_BYTES_LEAST || this.client.db !== 0 || !this.#mayLook()) return piece
    const packed = this.#door.router.onlyLine()?.pack(piece)
    if (packed === undefined) return piece
    void this.#finish(this.#runPacked(packed))
    return piece.subarray(packed.lengthBytes)
  }

  async #runPacked(packed: PackedBatch): Promise<void> {
    const { specs, argumentCounts, replies } = packed
    const startMs = performance.now()
    const answers = await replies.catch(faultOfThrown)
    if (!isFault(answers)) {
      const tookMs = (performance.now() - startMs) / specs.length
      const names = specs.map(({ name }) => name)
      this.#door.activity.endedMany(this.client, names, tookMs, () => packed.calls())
    }
    for (let at = 0; at < specs.length; at += 1) {
      const { name } = specs[at]!
      this.#answer(name, [], isFault(answers) ? answers : shaped(name, argumentCounts[at]!, answers[at]!))
    }
  }

  /** Whether its requests have nothing to wait for, and nothing is said of them but their replies. */
  #mayLook(): boolean {
    const { client } = this
    if (this.#isBusy || this.#next < this.#requests.length || this.#fault !== undefined) return false
    if (!client.isAuthenticated || !client.user.mayAll || client.transaction !== undefined) return false
    if (client.tracking !== undefined) return false
    if (client.replyMode !== 'on' || (client.subscriptions > 0 && client.protocol === 2)) return false
    if (this.#door.pause.isOn || this.#door.activity.monitors.size > 0) return false
    return this.#reader.isEmpty && this.#stream.unsentBytes === 0
  }

  drained(): void {
    this.#go()
  }

  /** Do what can be done. */
  #go(): void {
    this.#readAhead()
    while (!this.#isBusy && !this.#isEnding && this.#next < this.#requests.length) {
      if (this.#writer.length > UNSENT_BYTES_LOOK) this.#send()
      if (this.#stream.unsentBytes > UNSENT_BYTES_MAX) break
      const work = this.#begin()
      if (work !== undefined) {
        void this.#finish(work)
        break
      }
      this.#answered()
      if (this.#next === this.#requests.length) this.#readAhead()
    }
    this.#send()
    // What comes still is not read: the client learns at once that no one listens.
    if (this.#isEnding) this.#stream.end()
    else this.#stream.setReading(!this.#isFull())
  }

  #limits(): RequestLimits {
    if (!this.client.isAuthenticated) return LIMITS_BEFORE_AUTH
    const { bulkBytesMax } = this.#door.parameters
    return { argumentsMax: ARGUMENTS_MAX, bulkBytesMax, valueBytesMax: VALUE_BYTES_MAX, isAuthenticated: true }
  }

  #isFull(): boolean {
    const ahead = this.#requests.length - this.#next
    if (ahead >= AHEAD_MAX || (ahead > 0 && this.#aheadBytes > AHEAD_BYTES_MAX)) return true
    return this.#stream.unsentBytes > UNSENT_BYTES_MAX
  }

  async #finish(work: Promise<void>): Promise<void> {
    this.#isBusy = true
    try {
      await work
    } catch (error) {
      this.#write(faultOfThrown(error))
    }
    this.#answered()
    this.#isBusy = false
    this.#go()
  }

  /** What has changed meanwhile is told behind the answers. */
  #answered(): void {
    if (this.client.tracking !== undefined) this.#door.tracking.answered(this.client)
  }

  #readAhead(): void {
    if (this.#next === this.#requests.length) {
      this.#requests = []
      this.#next = 0
      this.#aheadBytes = 0
    }
    try {
      while (this.#fault === undefined && this.#requests.length - this.#next < AHEAD_MAX) {
        const request = this.#reader.next()
        if (request === undefined) break
        this.#requests.push(request)
      }
    } catch (error) {
      if (!(error instanceof ProtocolFault)) throw error
      this.#fault = error
    }
    if (this.#fault === undefined || this.#isBusy || this.#next < this.#requests.length) return
    this.#write({ fault: 'ERR', message: this.#fault.message })
    this.#isEnding = true
  }

  /** Begin with the next request; undefined if it is answered already. */
  #begin(): Promise<void> | undefined {
    const request = this.#requests[this.#next]!
    const command = doorCommandNamed(request.name)
    const refusal = refusalOf(this.#door, this.client, { request, command }) ?? this.#elsewhere(command)
    if (refusal !== undefined) {
      this.#next += 1
      if (this.client.transaction !== undefined) this.client.transaction.isBroken = true
      this.#refuse(request, command?.name === 'exec' ? aborted(this.client, refusal) : refusal)
      return undefined
    }
    const paused = this.#door.pause.isOn ? this.#door.pause.of(mayWrite(this.#door, this.client, request)) : undefined
    if (paused !== undefined) return paused
    if (this.client.transaction !== undefined && command?.inTransaction !== 'at once') {
      this.#next += 1
      this.#queue(this.client.transaction, request)
      return undefined
    }
    return command === undefined ? this.#beginCalls() : this.#beginCommand(command, request)
  }

  /** A transaction counts like a request that has not come whole. */
  #queue(transaction: Transaction, request: Request): void {
    transaction.add(request)
    if (transaction.bytes > this.#door.parameters.queryBytesMax) {
      this.#isEnding = true
      this.destroy()
    } else this.#write('QUEUED')
  }

  #refuse({ name, args }: Request, refusal: FaultReply): void {
    const known = doorCommandNamed(name) ?? commandNamed(name)
    if (known !== undefined) this.#door.activity.statistics.reject(known.name, args)
    this.#write(refusal)
  }

  /** What may not wait for EXEC here, since the key is elsewhere. */
  #elsewhere(command: DoorCommand | undefined): FaultReply | undefined {
    if (!this.#door.settings.isCluster || this.client.transaction === undefined || command !== undefined)
      return undefined
    const data = this.#dataAt(this.#next)!
    const slot = this.#door.router.slotOf(data)
    return slot === undefined || isNoSlot(slot) ? slot : this.#movedTo(slot, data.spec)
  }

  #beginCommand(command: DoorCommand, request: Request): Promise<void> | undefined {
    this.#next += 1
    const { activity } = this.#door
    const { name } = command
    activity.began(this.client, name, request)
    if (this.client.tracking !== undefined)
      // What a script reads is known when it has run.
      this.#door.tracking.began(this.client, command.keys ? [] : readKeys(name, request.args, undefined))
    const startMs = performance.now()
    let reply: DoorReply | Promise<DoorReply>
    try {
      reply = command.run(this.#door, this.client, request.args)
    } catch (error) {
      reply = faultOfThrown(error)
    }
    const answered = (answer: DoorReply): void => {
      activity.ended(this.client, name, request, performance.now() - startMs)
      this.#answer(name, request.args, answer)
    }
    if (reply instanceof Promise) return reply.catch(faultOfThrown).then(answered)
    answered(reply)
    return undefined
  }

  #beginCalls(): Promise<void> | undefined {
    const { router } = this.#door
    const first = this.#dataAt(this.#next)!
    this.#next += 1
    const { spec, call } = first
    this.#track(first)
    const slot = router.slotOf(first)
    if (isNoSlot(slot)) {
      this.#write(slot)
      return undefined
    }
    const moved = slot === undefined ? undefined : this.#movedTo(slot, spec)
    if (moved !== undefined) {
      this.#write(moved)
      return undefined
    }
    if (slot === undefined) return this.#runEverywhere(first)
    if (isPlainLook(spec, call)) {
      const looked = router.look(call)
      if (looked === null || looked instanceof Uint8Array) {
        this.#door.activity.looked(this.client, spec.name, first.request)
        this.#write(looked)
        return undefined
      }
    }
    const line = router.lineOf(slot)
    if (spec.blocking !== undefined) return this.#wait(line, first)
    return this.#runTogether(line, this.#gather(line, first))
  }

  /** Where a client that knows clusters is to ask. */
  #movedTo(slot: number, { isWrite }: CommandSpec): FaultReply | undefined {
    const { settings, cluster } = this.#door
    return settings.isCluster ? cluster.moved(slot, !isWrite && this.client.isReadOnly) : undefined
  }

  #dataAt(at: number): DataRequest | undefined {
    const request = this.#requests[at]
    if (request === undefined || request.isTooLong || doorCommandNamed(request.name) !== undefined) return undefined
    const spec = commandNamed(request.name)
    if (spec === undefined || !fitsArity(spec, request.args.length)) return undefined
    const { db, tracking } = this.client
    const call = { name: spec.name, args: request.args, db }
    return { request, spec, call: tracking === undefined ? call : { ...call, origin: tracking.origin } }
  }

  #track({ spec, call }: DataRequest): void {
    if (this.client.tracking === undefined) return
    this.#door.tracking.began(this.client, readKeys(spec.name, call.args, spec), spec.blocking !== undefined)
  }

  async #runEverywhere(request: DataRequest): Promise<void> {
    const { activity, router } = this.#door
    const { name } = request.spec
    activity.began(this.client, name, request.request)
    const startMs = performance.now()
    const reply = await router.everywhere(request)
    activity.ended(this.client, name, request.request, performance.now() - startMs)
    this.#answer(name, request.call.args, reply)
  }

  /** What follows, and may go along. */
  #gather(line: ShardLine, first: DataRequest): readonly DataRequest[] {
    const { router } = this.#door
    const together = [first]
    while (together.length < TOGETHER_MAX) {
      const next = this.#dataAt(this.#next)
      if (next === undefined || next.spec.blocking !== undefined) break
      const slot = router.slotOf(next)
      if (slot === undefined || isNoSlot(slot) || router.lineOf(slot) !== line) break
      if (this.#movedTo(slot, next.spec) !== undefined || this.#door.pause.isOn) break
      if (!this.client.user.mayAll && this.#door.users.refusal(this.client, next.spec.name, next.call.args)) break
      if (this.client.tracking !== undefined) {
        // What is read behind a change of its own is not told of that one.
        if (next.spec.isWrite !== first.spec.isWrite) break
        this.#door.tracking.follows(this.client)
        this.#track(next)
      }
      together.push(next)
      this.#next += 1
    }
    return together
  }

  async #runTogether(line: ShardLine, requests: readonly DataRequest[]): Promise<void> {
    const calls = requests.map(({ call }) => call)
    const { activity } = this.#door
    for (const { spec, request } of requests) activity.began(this.client, spec.name, request)
    const startMs = performance.now()
    let replies: readonly Reply[]
    try {
      replies = requests.some(({ spec }) => spec.isWrite) ? await line.write(calls) : await line.read(calls)
    } catch (error) {
      const fault = faultOfThrown(error)
      for (const { spec, call } of requests) this.#answer(spec.name, call.args, fault)
      return
    }
    const tookMs = (performance.now() - startMs) / requests.length
    for (const [at, { spec, call, request }] of requests.entries()) {
      activity.ended(this.client, spec.name, request, tookMs)
      this.#answer(spec.name, call.args, shaped(spec.name, call.args.length, replies[at]!))
    }
  }

  async #wait({ port }: ShardLine, { spec, call, request }: DataRequest): Promise<void> {
    const { activity } = this.#door
    activity.began(this.client, spec.name, request)
    const reply = await waited(this.client, port, { spec, call })
    // As in Redis, the time that it waited is not counted.
    activity.ended(this.client, spec.name, request, 0)
    this.#answer(spec.name, call.args, isFault(reply) ? reply : (reply ?? NULL_ARRAY))
  }

  #answer(name: string, args: readonly Uint8Array[], reply: DoorReply): void {
    if (isFault(reply)) this.#door.activity.statistics.ofCall(name, args).failed += 1
    this.#write(reply)
  }

  #write(reply: DoorReply): void {
    if (reply === NO_REPLY) return
    const { client } = this
    // What a client listens to is told in any case, and so is that it does.
    if (client.replyMode === 'on' || isPush(reply)) this.#writer.write(reply, client.protocol)
    else if (client.replyMode === 'skip') client.replyMode = 'on'
  }

  #send(): void {
    if (this.#writer.length === 0) return
    if (!this.#stream.isWritable) {
      // It has ended, and is told of nothing more: a client that does not take its end could wait for ever.
      this.#writer.reset()
      return
    }
    this.#door.activity.statistics.sentBytes += this.#writer.length
    this.#stream.write(this.#writer.bytes)
    this.#writer.reset()
    if (this.#stream.unsentBytes > UNSENT_BYTES_LOOK) this.#door.limits.checkOutput(this.client)
  }
}

function isPush(reply: DoorReply): boolean {
  return typeof reply === 'object' && reply !== null && 'push' in reply
}

/** Whether bytes may begin with a `GET` or `HGET`: a short look, since most do not. */
function mayBeLook(bytes: Uint8Array): boolean {
  // *2 $3 GET, and *3 $4 HGET.
  const count = bytes[1]
  const initial = bytes[8]! | 0x20
  return (count === 0x32 && initial === 0x67) || (count === 0x33 && initial === 0x68)
}

/** A read of one string, or of one field. */
function isPlainLook({ name }: CommandSpec, { args }: Call): boolean {
  return (name === 'get' && args.length === 1) || (name === 'hget' && args.length === 2)
}
