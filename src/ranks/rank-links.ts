import { type LinksSaid, type ProgramsHost, ranksInWords } from '../cluster/index.ts'
import {
  type AgreementCall,
  AgreementError,
  CollectiveError,
  endForShrinking,
  type GroupEngine,
  openPeers,
  type Peer,
  PeerError,
  type Peers,
  type Survivors,
  UnconnectedLink,
  type VerbsLink,
} from '../messaging/index.ts'
import { AetherError, ArgumentError, ClosedError, TIMER_MS_MAX, TimeoutError } from '../native/index.ts'
import { KeepAlive } from '../runtime/index.ts'
import { type LinkSaying, readSaying, sayCard } from './link-saying.ts'

/** The connection to one rank: `end` until the rank has said how it is reached, then `link`. */
interface Way {
  readonly end: UnconnectedLink
  link: VerbsLink | undefined
  /** Why no connection can be made. */
  refused: Error | undefined
  /** Called in order once it is there, or cannot be. */
  readonly waiting: ((peer: Peer | Error) => void)[]
}

/** How long the agent may take to answer a blocked program. */
const AGENT_MS = 10_000
/** A program that blocks asks its agent for news after this long, and sleeps for `NAP_MS` between looks. */
const NEWS_MS = 20
const NAP_MS = 0.1
/** The peer's program may be computing. Its death is told by the group. */
const GREETING_MS = TIMER_MS_MAX

/**
 * Connections of this rank's program to the programs of other ranks, beside those of the agents. Each is made when it
 * is first needed:
 *
 * 1. Both ends make a queue pair and tell each other how it is reached, by way of their agents.
 * 2. Each end that has connected says so. Both then greet each other as peers.
 *
 * It works from the event loop, and from a thread that blocks. Membership is the group's alone: a connection that
 * breaks is a suspicion, which the agents decide.
 */
export class RankLinks implements Survivors {
  readonly peers: Peers
  readonly #host: ProgramsHost
  readonly #ways: (Way | undefined)[]
  readonly #gone = new Set<number>()
  readonly #keepAlive = new KeepAlive()
  readonly #nap = new Int32Array(new SharedArrayBuffer(4))
  /** The number of the next letter. */
  #next = 0
  #newsMs = 0
  /** Looked at after each change. */
  readonly #looks = new Set<() => void>()
  /** Called for each connection. */
  onPeer: (peer: Peer) => void = () => {}

  constructor(host: ProgramsHost) {
    this.#host = host
    this.#ways = Array.from({ length: host.size })
    this.peers = openPeers({ number: host.rank, device: host.device })
    this.peers.onDetached = (rank, error) => this.#broke(rank, error)
    this.peers.hub.onSpin = (nowMs) => this.#lookForNews(nowMs)
  }

  /** The ranks that neither left nor died, as far as the program knows. */
  isMember(rank: number): boolean {
    return !this.#gone.has(rank)
  }

  isConnected(rank: number): boolean {
    return this.peers.get(rank) !== undefined
  }

  link(rank: number): VerbsLink | undefined {
    return this.isConnected(rank) ? this.#ways[rank]?.link : undefined
  }

  // ---- what the group hears
  // ----------------------------------------------------------------------------------------------------------------

  /** The agent has letters. */
  async fetch(): Promise<void> {
    if (!this.peers.closed) this.#take((await this.#host.agent.command('linksSaid', this.#next)) as LinksSaid)
  }

  /** A rank is out of the group. What one that left has sent is still taken. */
  ended(rank: number, how: 'left' | 'died'): void {
    if (this.#gone.has(rank)) return
    this.#gone.add(rank)
    const way = this.#ways[rank]
    const error = new PeerError('ERR_AETHER_PEER_LOST', rank, `rank ${rank} has ${how === 'left' ? 'left' : 'died'}`)
    if (way !== undefined) {
      if (way.link === undefined && way.refused === undefined) way.end.close()
      else if (how === 'died') endLink(way.link, error)
      this.#refuse(way, error)
    }
    this.#changed()
  }

  // ---- connecting
  // ----------------------------------------------------------------------------------------------------------------

  /** Call `then` with the peer as soon as there is one: at once, or later. In order for each rank. */
  whenConnected(rank: number, then: (peer: Peer | Error) => void): void {
    const peer = this.peers.get(rank)
    const way = this.#begin(rank)
    if (way instanceof Error) then(way)
    else if (peer !== undefined && way.waiting.length === 0) then(peer)
    else if (way.refused !== undefined) then(way.refused)
    else way.waiting.push(then)
  }

  /** True once this rank, or another, has begun a connection. */
  get hasBegun(): boolean {
    return this.#ways.some((way) => way !== undefined)
  }

  /** Begin to connect, without waiting. */
  begin(ranks: readonly number[]): void {
    for (const rank of ranks) this.#begin(rank)
  }

  /** Whether each rank is connected, or cannot be. */
  areSettled(ranks: readonly number[]): boolean {
    return ranks.every((rank) => this.#isSettled(rank))
  }

  /** Resolves when {@link areSettled}. */
  async connect(ranks: readonly number[], signal?: AbortSignal): Promise<void> {
    this.begin(ranks)
    await this.#keepAlive.during(this.#until(() => this.areSettled(ranks), signal))
  }

  /** The same, blocking. @throws TimeoutError */
  connectSync(ranks: readonly number[], timeoutMs: number): void {
    const isOver = (): boolean => this.areSettled(ranks)
    this.begin(ranks)
    this.#spin(isOver, timeoutMs, () => this.whomItWaitsFor(ranks))
  }

  /** For a thread that blocks: take what has come. */
  look(): void {
    this.#fetchSync()
    for (const way of this.#ways) {
      if (way?.link?.open !== true) continue
      way.link.flush()
      way.link.poll()
    }
  }

  /** Why a rank cannot be connected; undefined while it can be. */
  refusal(rank: number): Error | undefined {
    return this.#ways[rank]?.refused
  }

  /** In words. */
  whomItWaitsFor(ranks: readonly number[]): string {
    const absent = ranks.filter((rank) => !this.#isSettled(rank))
    return `${ranksInWords(absent)} did not answer, as a program that computes does not`
  }

  // ---- who goes on
  // ----------------------------------------------------------------------------------------------------------------

  async shrink(engine: GroupEngine, call: AgreementCall, signal?: AbortSignal): Promise<GroupEngine> {
    endForShrinking(engine)
    return this.peers.hub.group(await this.settle(engine.peers, lostIn(engine), call, signal))
  }

  shrinkSync(engine: GroupEngine, call: AgreementCall): GroupEngine {
    endForShrinking(engine)
    return this.peers.hub.group(this.settleSync(engine.peers, lostIn(engine), call))
  }

  /**
   * Resolves with those of `ranks` that are left, connected with each other, once `lost` is out of the group.
   * @throws AgreementError after `timeoutMs`, the signal's reason, ClosedError.
   */
  async settle(
    ranks: readonly number[],
    lost: number | undefined,
    call: AgreementCall,
    signal?: AbortSignal,
  ): Promise<readonly number[]> {
    const isOver = this.#beginSettling(ranks, lost, call)
    const late = AbortSignal.timeout(Math.min(call.timeoutMs, TIMER_MS_MAX))
    try {
      const either = signal === undefined ? late : AbortSignal.any([signal, late])
      await this.#keepAlive.during(this.#until(isOver, either))
    } catch (error) {
      if (late.aborted && error === late.reason) throw this.#undecided(ranks, call)
      throw error
    }
    return this.#living(ranks)
  }

  /** The same, blocking. */
  settleSync(ranks: readonly number[], lost: number | undefined, call: AgreementCall): readonly number[] {
    const isOver = this.#beginSettling(ranks, lost, call)
    try {
      this.#spin(isOver, call.timeoutMs, () => '')
    } catch (error) {
      throw error instanceof TimeoutError ? this.#undecided(ranks, call) : error
    }
    return this.#living(ranks)
  }

  /** Send what was passed to `send`, then end all connections. */
  async close(): Promise<void> {
    const closed = new ClosedError('the group')
    for (const way of this.#ways) {
      if (way === undefined) continue
      if (way.link === undefined && way.refused === undefined) way.end.close()
      this.#refuse(way, closed)
    }
    const closing = this.peers.close()
    this.#changed()
    await closing
  }

  /** What is returned tells whether the rank that was lost is out, and all that are left are connected. */
  #beginSettling(ranks: readonly number[], lost: number | undefined, { quorum }: AgreementCall): () => boolean {
    if (quorum !== 'majority')
      throw new ArgumentError('quorum', 'a group of ranks goes on with a majority; leave out quorum')
    for (const [rank, way] of this.#ways.entries())
      if (way?.link?.open === false) this.#suspect(rank, 'its connection has ended')
    return () => {
      if (lost !== undefined && this.isMember(lost)) return false
      const others = this.#living(ranks).filter((rank) => rank !== this.#host.rank)
      for (const rank of others) this.#begin(rank)
      return others.every((rank) => this.isConnected(rank))
    }
  }

  #living(ranks: readonly number[]): readonly number[] {
    return ranks.filter((rank) => this.isMember(rank))
  }

  #undecided(ranks: readonly number[], { timeoutMs }: AgreementCall): AgreementError {
    const living = this.#living(ranks)
    const why = `the ranks that are left were not known, and connected, within ${timeoutMs} ms; ${ranksInWords(living)} seem to be there`
    return new AgreementError('ERR_AETHER_GROUP_UNDECIDED', living, why)
  }

  // ---- inside
  // ----------------------------------------------------------------------------------------------------------------

  #begin(rank: number): Way | Error {
    const there = this.#ways[rank]
    if (there !== undefined) return there
    if (this.peers.closed) return new ClosedError('the group')
    if (this.#gone.has(rank)) return new PeerError('ERR_AETHER_PEER_LOST', rank, `rank ${rank} has ended or left`)
    const end = new UnconnectedLink(this.#host.device)
    const way: Way = { end, link: undefined, refused: undefined, waiting: [] }
    this.#ways[rank] = way
    this.#say(rank, sayCard(end.card))
    return way
  }

  #say(rank: number, value: LinkSaying): void {
    void this.#host.agent.command('sayOfLinks', { rank, value }).catch(ended)
  }

  #suspect(rank: number, why: string): void {
    if (!this.peers.closed && this.isMember(rank)) void this.#host.agent.command('suspect', { rank, why }).catch(ended)
  }

  #take({ first, letters, gone }: LinksSaid): void {
    for (const [at, { rank, value }] of letters.entries()) {
      if (first + at < this.#next) continue
      this.#next = first + at + 1
      if (!this.peers.closed) this.#hear(rank, value)
    }
    for (const [rank, how] of gone) this.ended(rank, how)
  }

  #hear(rank: number, value: unknown): void {
    try {
      const saying = readSaying(value)
      if (saying?.step === 'card') this.#connect(rank, saying.card)
      else if (saying?.step === 'ready') this.#greet(rank)
      else if (saying?.step === 'refused') this.#cameRefusal(rank, saying.why)
    } catch (error) {
      // Memory or descriptors are used up, here or there.
      const why = (error as Error).message
      this.#say(rank, { step: 'refused', why })
      this.#cameRefusal(rank, why)
    }
    this.#changed()
  }

  #connect(rank: number, card: UnconnectedLink['card']): void {
    const way = this.#begin(rank)
    if (way instanceof Error || way.link !== undefined || way.refused !== undefined) return
    way.link = way.end.connect(card, { peerText: `rank ${rank}`, pathMtu: this.#host.pathMtu(rank) })
    this.#say(rank, { step: 'ready' })
  }

  #greet(rank: number): void {
    const way = this.#ways[rank]
    if (way?.link === undefined || way.refused !== undefined) return
    void this.peers.attach(way.link, GREETING_MS).then(
      (peer) => {
        this.onPeer(peer)
        this.#changed()
      },
      (error) => this.#broke(rank, error),
    )
  }

  /** It was closed, by either end, if there is no error. */
  #broke(rank: number, error: Error | undefined): void {
    if (error !== undefined) this.#suspect(rank, error.message)
    this.#changed()
  }

  #cameRefusal(rank: number, why: string): void {
    const way = this.#ways[rank]
    if (way === undefined || way.link !== undefined || way.refused !== undefined) return
    way.end.close()
    this.#refuse(way, new AetherError('ERR_AETHER_LINK', `no connection to rank ${rank} can be made: ${why}`))
  }

  #refuse(way: Way, error: Error): void {
    way.refused ??= error
    for (const then of way.waiting.splice(0)) then(way.refused)
  }

  #isSettled(rank: number): boolean {
    return this.isConnected(rank) || this.#gone.has(rank) || this.#ways[rank]?.refused !== undefined
  }

  #until(isOver: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const end = (): void => {
        this.#looks.delete(look)
        signal?.removeEventListener('abort', abort)
      }
      const abort = (): void => {
        end()
        reject(signal?.reason)
      }
      const look = (): void => {
        if (this.peers.closed) reject(new ClosedError('the group'))
        else if (!isOver()) return
        end()
        resolve()
      }
      this.#looks.add(look)
      signal?.addEventListener('abort', abort, { once: true })
      if (signal?.aborted === true) abort()
      else look()
    })
  }

  #changed(): void {
    for (const [rank, way] of this.#ways.entries()) {
      const peer = way === undefined || way.waiting.length === 0 ? undefined : this.peers.get(rank)
      if (peer !== undefined) for (const then of way!.waiting.splice(0)) then(peer)
    }
    for (const look of [...this.#looks]) look()
  }

  #spin(isOver: () => boolean, timeoutMs: number, what: () => string): void {
    const deadlineMs = performance.now() + timeoutMs
    for (;;) {
      this.look()
      if (isOver()) break
      if (performance.now() > deadlineMs) throw new TimeoutError(what())
      Atomics.wait(this.#nap, 0, 0, NAP_MS)
    }
    this.#changed()
  }

  /** A thread that blocks in a collective hears of deaths, and of ranks that connect. */
  #lookForNews(nowMs: number): void {
    if (nowMs - this.#newsMs < NEWS_MS) return
    this.#newsMs = nowMs
    this.#fetchSync()
  }

  #fetchSync(): void {
    this.#take(this.#host.agent.commandSync('linksSaid', this.#next, AGENT_MS) as LinksSaid)
  }
}

/** What the rank had sent, and is here, still counts. */
function endLink(link: VerbsLink | undefined, error: Error): void {
  if (link?.open !== true) return
  link.poll()
  link.destroy(error)
}

/** The agent has ended: there is nothing to say any more. */
const ended = (): void => {}

/** The rank without which the group cannot go on. */
function lostIn({ failure }: GroupEngine): number | undefined {
  return failure instanceof CollectiveError && failure.code === 'ERR_AETHER_PEER_LOST' ? failure.peer : undefined
}
