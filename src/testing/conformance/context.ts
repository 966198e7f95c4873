import { strict as assert } from 'node:assert'
import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import {
  Access,
  Attribute,
  type AttributeName,
  CompletionStatus,
  findTransition,
  Opcode,
  type QueuePairAttributes,
  QueuePairState,
  type QueuePairType,
  type RemoteEndpoint,
  statusName,
} from '../../verbs/index.ts'
import type { Player } from './player.ts'
import { PlayerError } from './player.ts'
import type {
  Completion,
  Handle,
  MemoryFacts,
  PairFacts,
  PairSpecification,
  ReceiveSpecification,
  RequestSpecification,
  SegmentSpecification,
} from './player-data.ts'

/** Waits until `predicate` holds, and rejects if it does not within `deadlineMs`. Cases wait in no other way. */
export type Until = (predicate: () => boolean | Promise<boolean>, deadlineMs: number) => Promise<void>

/** How long a case waits for what must come. It is generous, since it matters only if something is broken. */
export const PATIENCE_MS = 10_000
export const ALL_ACCESS: number = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic
const MEMORY_BYTES = 16_384

export type EndOptions = Omit<PairSpecification, 'domain' | 'sendQueue' | 'receiveQueue'> & {
  readonly depth?: number
  /** Access rights of the memory. */
  readonly access?: number
  /** Share that end's protection domain and memory instead of creating new ones. */
  readonly within?: End
  /** Use an existing protection domain. */
  readonly domain?: Handle
}

export interface Timers {
  readonly timeout?: number
  readonly retryCount?: number
  readonly rnrRetry?: number
  readonly minRnrTimer?: number
  readonly access?: number
  readonly maxReadAtomic?: number
  readonly maxDestinationReadAtomic?: number
}

/**
 * One end of a connection, with what most cases need: a domain, memory, a queue pair, and a completion queue each for
 * sends and receives.
 */
export class End {
  readonly player: Player
  readonly gid: bigint
  readonly domain: Handle
  readonly memory: MemoryFacts
  readonly sendQueue: Handle
  readonly receiveQueue: Handle
  readonly pair: PairFacts
  readonly #until: Until

  constructor(
    until: Until,
    player: Player,
    gid: bigint,
    domain: Handle,
    memory: MemoryFacts,
    sendQueue: Handle,
    receiveQueue: Handle,
    pair: PairFacts,
  ) {
    this.#until = until
    this.player = player
    this.gid = gid
    this.domain = domain
    this.memory = memory
    this.sendQueue = sendQueue
    this.receiveQueue = receiveQueue
    this.pair = pair
  }

  /** This end with other memory. */
  withMemory(memory: MemoryFacts): End {
    return new End(
      this.#until,
      this.player,
      this.gid,
      this.domain,
      memory,
      this.sendQueue,
      this.receiveQueue,
      this.pair,
    )
  }

  /** This end with another queue pair, whose completions all arrive in `queue`. */
  withPair(pair: PairFacts, queue: Handle): End {
    return new End(this.#until, this.player, this.gid, this.domain, this.memory, queue, queue, pair)
  }

  /** A segment of this end's memory. */
  segment(offset: number, length: number, memory: MemoryFacts = this.memory): SegmentSpecification {
    return { address: memory.address + offset, length, key: memory.localKey }
  }

  /** How the other end names this end's memory. */
  target(offset: number, memory: MemoryFacts = this.memory): { readonly address: number; readonly key: number } {
    return { address: memory.address + offset, key: memory.remoteKey }
  }

  post(request: RequestSpecification): Promise<void> {
    return this.player.post(this.pair.handle, request)
  }

  receive(id: number, offset: number, length: number): Promise<void> {
    return this.receiveInto({ id, local: [this.segment(offset, length)] })
  }

  receiveInto(request: ReceiveSpecification): Promise<void> {
    return this.player.receive(this.pair.handle, request)
  }

  fill(offset: number, bytes: Uint8Array | readonly number[]): Promise<void> {
    return this.player.fill(this.memory.handle, offset, Uint8Array.from(bytes))
  }

  async bytes(offset: number, length: number): Promise<number[]> {
    return [...(await this.player.read(this.memory.handle, offset, length))]
  }

  async word(offset: number): Promise<bigint> {
    const bytes = await this.player.read(this.memory.handle, offset, 8)
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true)
  }

  setWord(offset: number, value: bigint): Promise<void> {
    return this.fill(offset, new Uint8Array(new BigUint64Array([value]).buffer))
  }

  /** The next `count` completions of the send queue, in order. */
  sent(count = 1): Promise<Completion[]> {
    return this.completions(this.sendQueue, count)
  }

  received(count = 1): Promise<Completion[]> {
    return this.completions(this.receiveQueue, count)
  }

  async completions(queue: Handle, count: number): Promise<Completion[]> {
    const all: Completion[] = []
    await this.#until(async () => {
      all.push(...(await this.player.poll(queue, count - all.length)))
      return all.length >= count
    }, PATIENCE_MS)
    return all
  }

  /** Wait for the next send completion and check its status. */
  async sentWith(status: number, id?: number): Promise<Completion> {
    const [completion] = (await this.sent()) as [Completion]
    expectStatus(completion, status, id)
    return completion
  }

  async receivedWith(status: number, id?: number): Promise<Completion> {
    const [completion] = (await this.received()) as [Completion]
    expectStatus(completion, status, id)
    return completion
  }

  /** Wait until the receive of request `id` completes with a failure. Providers differ in the status. */
  async untilFailed(id: number): Promise<void> {
    const [completion] = (await this.received()) as [Completion]
    assert.equal(completion.id, id)
    assert.notEqual(completion.status, Success)
  }

  /** Poll once, and expect no completion. */
  async expectNothing(): Promise<void> {
    assert.deepEqual(await this.player.poll(this.sendQueue, 1), [], 'no send completion was expected')
    assert.deepEqual(await this.player.poll(this.receiveQueue, 1), [], 'no receive completion was expected')
  }

  async untilState(state: number): Promise<void> {
    await this.#until(async () => {
      // A poll lets the provider notice what its peer did.
      await this.player.poll(this.receiveQueue, 1).then((rows) => assert.deepEqual(rows, []))
      return (await this.player.state(this.pair.handle)) === state
    }, PATIENCE_MS)
  }

  modify(attributes: QueuePairAttributes): Promise<void> {
    return this.player.modify(this.pair.handle, attributes)
  }

  init(access: number = ALL_ACCESS): Promise<void> {
    return this.#advance(QueuePairState.Reset, { state: QueuePairState.Init, ...initValues, access })
  }

  readyToReceive(remote: RemoteEndpoint, timers: Timers = {}): Promise<void> {
    return this.#advance(QueuePairState.Init, receiveAttributes(remote, timers))
  }

  readyToSend(timers: Timers = {}): Promise<void> {
    return this.#advance(QueuePairState.ReadyToReceive, sendAttributes(this.pair.endpoint.psn, timers))
  }

  /** Modify with those of the attributes that the type requires. */
  #advance(from: QueuePairState, all: QueuePairAttributes): Promise<void> {
    const required = findTransition(this.pair.type, from, all.state as number)?.required ?? 0
    return this.modify(selectAttributes(all, required | Attribute.state))
  }

  async connect(remote: RemoteEndpoint, timers: Timers = {}): Promise<void> {
    await this.init(timers.access)
    await this.readyToReceive(remote, timers)
    await this.readyToSend(timers)
  }
}

export const QUEUE_KEY = 0x11111111
const initValues = { partitionKeyIndex: 0, port: 1, queueKey: QUEUE_KEY } as const

/** The attributes that a mask selects. */
export function selectAttributes(all: QueuePairAttributes, mask: number): QueuePairAttributes {
  const chosen = Object.entries(all).filter(([name]) => (mask & Attribute[name as AttributeName]) !== 0)
  return Object.fromEntries(chosen) as QueuePairAttributes
}

export function receiveAttributes(remote: RemoteEndpoint, timers: Timers = {}): QueuePairAttributes {
  return {
    state: QueuePairState.ReadyToReceive,
    addressVector: { gid: remote.gid },
    pathMtu: 1024,
    destinationQueuePair: remote.queuePairNumber,
    receivePsn: remote.psn,
    maxDestinationReadAtomic: timers.maxDestinationReadAtomic ?? 1,
    minRnrTimer: timers.minRnrTimer ?? 1,
  }
}

export function sendAttributes(psn: number, timers: Timers = {}): QueuePairAttributes {
  return {
    state: QueuePairState.ReadyToSend,
    sendPsn: psn,
    timeout: timers.timeout ?? 14,
    retryCount: timers.retryCount ?? 6,
    rnrRetry: timers.rnrRetry ?? 7,
    maxReadAtomic: timers.maxReadAtomic ?? 1,
  }
}

/** What a case receives: two players with open devices, and ways to wait. */
export class Context {
  readonly until: Until
  readonly players: readonly [Player, Player]
  readonly gids: readonly [bigint, bigint]
  /** The process of the second player; undefined if it is this one. */
  readonly #other: ChildProcess | undefined

  constructor(
    until: Until,
    players: readonly [Player, Player],
    gids: readonly [bigint, bigint],
    other: ChildProcess | undefined,
  ) {
    this.until = until
    this.players = players
    this.gids = gids
    this.#other = other
  }

  get hasOther(): boolean {
    return this.#other !== undefined
  }

  /** Stop all threads of the second player's process, wherever they are. Nothing happens if it is this process. */
  async stopOther(): Promise<void> {
    const other = this.#other
    if (other === undefined) return
    other.kill('SIGSTOP')
    const tasks = `/proc/${other.pid}/task`
    const isStopped = (task: string): boolean => / T \d/.test(readFileSync(`${tasks}/${task}/stat`, 'latin1'))
    await this.until(() => readdirSync(tasks).every(isStopped), PATIENCE_MS)
  }

  continueOther(): void {
    this.#other?.kill('SIGCONT')
  }

  async end(index: 0 | 1, options: EndOptions = {}): Promise<End> {
    const { depth = 64, access = ALL_ACCESS, within, domain: given, ...specification } = options
    const player = this.players[index]
    const domain = within?.domain ?? given ?? (await player.domain())
    const memory = within?.memory ?? (await player.allocate(domain, MEMORY_BYTES, access))
    const sendQueue = await player.queue(depth)
    const receiveQueue = await player.queue(depth)
    const pair = await player.pair({
      maxSendRequests: 16,
      maxReceiveRequests: 16,
      maxInlineBytes: 64,
      maxSendSegments: 4,
      maxReceiveSegments: 4,
      ...specification,
      domain,
      sendQueue,
      receiveQueue,
    })
    return new End(this.until, player, this.gids[index], domain, memory, sendQueue, receiveQueue, pair)
  }

  /** An end of a type that needs further objects, which are created for it. */
  async endOf(type: QueuePairType, index: 0 | 1, options: EndOptions = {}): Promise<End> {
    const player = this.players[index]
    if (type === 'xrc-receive') return this.end(index, { type, xrcDomain: await player.xrcDomain(), ...options })
    if (type !== 'dct' || options.sharedReceiveQueue !== undefined) return this.end(index, { ...options, type })
    const plain = await this.end(index)
    const { handle } = await player.sharedQueue(plain.domain, { maxRequests: 16, maxSegments: 2 })
    return this.end(index, { type, sharedReceiveQueue: handle, dcAccessKey: 1n, within: plain, ...options })
  }

  /** Two ends, connected. */
  async connected(options: EndOptions = {}, timers: Timers = {}): Promise<readonly [End, End]> {
    const a = await this.end(0, options)
    const b = await this.end(1, options)
    await a.connect(b.pair.endpoint, timers)
    await b.connect(a.pair.endpoint, timers)
    return [a, b]
  }

  /** Expects a call to be refused with that errno. Returns the error for further checks. */
  refused(errnoName: string, action: Promise<unknown>): Promise<PlayerError> {
    return this.refusedWith([errnoName], action)
  }

  /** Expects a call on a closed object to fail. */
  async refusedClosed(action: Promise<unknown>): Promise<void> {
    const outcome = await action.catch((error: unknown) => error)
    assert.equal((outcome as { code?: string } | undefined)?.code, 'ERR_AETHER_CLOSED')
  }

  /** Like {@link refused}, if the source of the rule leaves the errno open. */
  async refusedWith(errnoNames: readonly string[], action: Promise<unknown>): Promise<PlayerError> {
    const outcome = await action.then(
      () => undefined,
      (error: unknown) => error,
    )
    assert.ok(
      outcome instanceof PlayerError,
      `the call should have failed with ${errnoNames.join(' or ')}; it ${outcome === undefined ? 'succeeded' : `gave ${String(outcome)}`}`,
    )
    if (outcome.code === 'ERR_AETHER_UNSUPPORTED') throw outcome
    assert.ok(errnoNames.includes(outcome.errnoName), outcome.message)
    return outcome
  }
}

export function expectStatus(completion: Completion, status: number, id?: number): void {
  assert.equal(statusName(completion.status), statusName(status), `of request ${completion.id}`)
  if (id !== undefined) assert.equal(completion.id, id)
}

export const Success: number = CompletionStatus.Success
export const Flushed: number = CompletionStatus.WorkRequestFlushed
export { assert, Opcode }
