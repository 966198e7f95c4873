import type { Socket } from 'node:net'
import {
  type Call,
  CommandFault,
  type CommandSpec,
  commandNamed,
  type FaultReply,
  faultOfCall,
  fitsArity,
  type Reply,
  wrongArity,
} from '../../index-service/index.ts'
import type { DoorCommand } from '../commands/door-command.ts'
import { doorCommandNamed } from '../commands/door-table.ts'
import type { DoorServices } from '../door-services.ts'
import { type DoorReply, NO_REPLY } from '../protocol/door-reply.ts'
import { isFault, ReplyWriter } from '../protocol/reply-writer.ts'
import { ProtocolFault, type Request } from '../protocol/request.ts'
import { RequestReader } from '../protocol/request-reader.ts'
import { shaped } from '../protocol/shape.ts'
import { faultOfThrown } from '../routing/faults.ts'
import { type DataRequest, isNoSlot } from '../routing/router.ts'
import type { ShardLine } from '../routing/shard-line.ts'
import { type ClientLine, DoorClient } from './client.ts'

/** Requests that are read before those before them are done. With more, the socket waits. */
const AHEAD_MAX = 1024
/** Calls of one connection that go to the index together. */
const TOGETHER_MAX = 256
const LIMITS = { argumentsMax: 1024 * 1024, bulkBytesMax: 4 * 2 ** 20 }
const LIMITS_BEFORE_AUTH = { argumentsMax: 10, bulkBytesMax: 16 * 1024 }
/** Bytes that a client has not taken: until it has, nothing more is read from it. */
const UNSENT_BYTES_MAX = 1024 * 1024
/** Of messages that came unasked. With more, the connection ends, as in Redis. */
const PUSHED_BYTES_MAX = 32 * 2 ** 20

/**
 * The connection of a client: its requests are done one after the other, and answered in that order. Consecutive ones
 * about one shard go there together.
 */
export class Connection implements ClientLine {
  readonly client: DoorClient
  readonly address: string
  readonly localAddress: string
  readonly #door: DoorServices
  readonly #socket: Socket
  readonly #reader: RequestReader
  readonly #writer = new ReplyWriter()
  readonly #end = new AbortController()
  #requests: Request[] = []
  #next = 0
  /** What was sent after the requests is none. */
  #fault: ProtocolFault | undefined
  #isBusy = false
  #isEnding = false
  #isPushing = false

  constructor(door: DoorServices, socket: Socket) {
    this.#door = door
    this.#socket = socket
    this.address = addressOf(socket.remoteAddress, socket.remotePort)
    this.localAddress = addressOf(socket.localAddress, socket.localPort)
    this.client = new DoorClient(door.clients.nextId(), this)
    this.client.isAuthenticated = door.settings.password === undefined
    this.#reader = new RequestReader(() => (this.client.isAuthenticated ? LIMITS : LIMITS_BEFORE_AUTH))
    door.clients.add(this.client)
    socket.setNoDelay(true)
    socket.on('data', (piece) => this.#take(piece as Buffer))
    socket.on('drain', () => this.#go())
    // What is wrong with it, the next event says, too.
    socket.on('error', () => undefined)
    socket.on('close', () => this.#closed())
  }

  get ended(): AbortSignal {
    return this.#end.signal
  }

  push(reply: DoorReply): void {
    this.#write(reply)
    this.#send()
  }

  pushBytes(bytes: Uint8Array): void {
    this.#writer.writeBytes(bytes)
    if (this.#isPushing) return
    this.#isPushing = true
    setImmediate(() => {
      this.#isPushing = false
      this.#send()
      if (this.#socket.writableLength > PUSHED_BYTES_MAX) this.#socket.destroy()
    })
  }

  end(): void {
    this.#isEnding = true
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #closed(): void {
    this.#isEnding = true
    this.#end.abort()
    this.#door.publisher.subscriptions.removeAll(this.client)
    this.#door.clients.delete(this.client)
  }

  #take(piece: Buffer): void {
    if (this.#isEnding) return
    this.#reader.push(piece)
    this.#go()
  }

  /** Do what can be done. */
  #go(): void {
    this.#readAhead()
    while (!this.#isBusy && !this.#isEnding && this.#next < this.#requests.length) {
      if (this.#socket.writableLength > UNSENT_BYTES_MAX) break
      const work = this.#begin()
      if (work !== undefined) void this.#finish(work)
      else if (this.#next === this.#requests.length) this.#readAhead()
    }
    this.#send()
    if (this.#isEnding) this.#socket.end()
    else if (this.#isFull()) this.#socket.pause()
    else if (this.#socket.isPaused()) this.#socket.resume()
  }

  #isFull(): boolean {
    return this.#requests.length - this.#next >= AHEAD_MAX || this.#socket.writableLength > UNSENT_BYTES_MAX
  }

  async #finish(work: Promise<void>): Promise<void> {
    this.#isBusy = true
    try {
      await work
    } catch (error) {
      this.#write(faultOfThrown(error))
    }
    this.#isBusy = false
    this.#go()
  }

  #readAhead(): void {
    if (this.#next === this.#requests.length) {
      this.#requests = []
      this.#next = 0
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
    const refusal = this.#refusal(request, command) ?? this.#elsewhere(command)
    if (refusal !== undefined) {
      this.#next += 1
      if (this.client.transaction !== undefined) this.client.transaction.isBroken = true
      this.#write(refusal)
      return undefined
    }
    if (this.client.transaction !== undefined && command?.inTransaction !== 'at once') {
      this.#next += 1
      this.client.transaction.requests.push(request)
      this.#write('QUEUED')
      return undefined
    }
    return command === undefined ? this.#beginCalls() : this.#beginCommand(command, request)
  }

  #refusal({ name, args }: Request, command: DoorCommand | undefined): FaultReply | undefined {
    const { client } = this
    if (!client.isAuthenticated && command?.isOpen !== true)
      return { fault: 'NOAUTH', message: 'Authentication required.' }
    if (command === undefined) return faultOfCall(name, args) ?? onlyForOthers(client, name)
    if (!fitsArity(command, args.length)) return wrongArity(command.name)
    const refusal = command.isForSubscribers === true ? undefined : onlyForOthers(client, command.name)
    if (refusal !== undefined) return refusal
    if (client.transaction !== undefined && command.inTransaction === 'refused')
      return { fault: 'ERR', message: `Command '${command.name}' not allowed inside a transaction` }
    return undefined
  }

  /** What may not wait for EXEC here, since the key is elsewhere. */
  #elsewhere(command: DoorCommand | undefined): FaultReply | undefined {
    if (!this.#door.settings.isCluster || this.client.transaction === undefined || command !== undefined)
      return undefined
    const data = this.#dataAt(this.#next)!
    const slot = this.#door.router.slotOf(data)
    return slot === undefined || isNoSlot(slot) ? slot : this.#movedTo(slot, data.spec)
  }

  #beginCommand(command: DoorCommand, { args }: Request): Promise<void> | undefined {
    this.#next += 1
    let reply: DoorReply | Promise<DoorReply>
    try {
      reply = command.run(this.#door, this.client, args)
    } catch (error) {
      if (!(error instanceof CommandFault)) throw error
      this.#write(faultOfThrown(error))
      return undefined
    }
    if (reply instanceof Promise) return reply.then((answer) => this.#write(answer))
    this.#write(reply)
    return undefined
  }

  #beginCalls(): Promise<void> | undefined {
    const { router } = this.#door
    const first = this.#dataAt(this.#next)!
    this.#next += 1
    const { spec, call } = first
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
    if (slot === undefined) return router.everywhere(first).then((reply) => this.#write(reply))
    if (isPlainLook(spec, call)) {
      const looked = router.look(call)
      if (looked === null || looked instanceof Uint8Array) {
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
    if (request === undefined || doorCommandNamed(request.name) !== undefined) return undefined
    const spec = commandNamed(request.name)
    if (spec === undefined || !fitsArity(spec, request.args.length)) return undefined
    return { spec, call: { name: spec.name, args: request.args, db: this.client.db } }
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
      if (this.#movedTo(slot, next.spec) !== undefined) break
      together.push(next)
      this.#next += 1
    }
    return together
  }

  async #runTogether(line: ShardLine, requests: readonly DataRequest[]): Promise<void> {
    const calls = requests.map(({ call }) => call)
    let replies: readonly Reply[]
    try {
      replies = requests.some(({ spec }) => spec.isWrite) ? await line.write(calls) : await line.read(calls)
    } catch (error) {
      const fault = faultOfThrown(error)
      for (const _ of requests) this.#write(fault)
      return
    }
    for (const [at, { spec, call }] of requests.entries())
      this.#write(shaped(spec.name, call.args.length, replies[at]!))
  }

  async #wait({ port }: ShardLine, { spec, call }: DataRequest): Promise<void> {
    const waitMs = waitMsOf(spec, call)
    if (isFault(waitMs)) this.#write(waitMs)
    else this.#write(shaped(spec.name, call.args.length, await port.wait(call, waitMs, this.ended)))
  }

  #write(reply: DoorReply): void {
    if (reply !== NO_REPLY) this.#writer.write(reply, this.client.protocol)
  }

  #send(): void {
    if (this.#writer.length > 0 && this.#socket.writable) this.#socket.write(this.#writer.take())
  }
}

/** In RESP2, a client cannot tell messages from answers. */
function onlyForOthers({ protocol, subscriptions }: DoorClient, name: string): FaultReply | undefined {
  if (protocol === 3 || subscriptions === 0) return undefined
  const message = `Can't execute '${name.toLowerCase()}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context`
  return { fault: 'ERR', message }
}

/** A read of one string, or of one field. */
function isPlainLook({ name }: CommandSpec, { args }: Call): boolean {
  return (name === 'get' && args.length === 1) || (name === 'hget' && args.length === 2)
}

function waitMsOf({ blocking }: CommandSpec, { args }: Call): number | FaultReply {
  try {
    return blocking!.timeoutMs(args)
  } catch (error) {
    return faultOfThrown(error)
  }
}

function addressOf(address: string | undefined, port: number | undefined): string {
  if (address === undefined) return ''
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
