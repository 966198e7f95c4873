import { performance } from 'node:perf_hooks'
import { hashText } from '../../codecs/index.ts'
import { ArgumentError, ClosedError, native, TimeoutError } from '../../native/index.ts'
import { type WaitDescription, WatchedWait, watchWaits } from '../../profiling/index.ts'
import { LookBudget } from '../../runtime/index.ts'
import type { Alarm, MessageLink } from '../message-link.ts'
import type { AgreementCall } from './agreement.ts'
import { agreementSizeMax } from './agreement-message.ts'
import { Agreements, excludedError } from './agreements.ts'
import { collectiveWaits } from './collective-waits.ts'
import { checkNotCombining } from './combining.ts'
import { EarlyFrames } from './early-frames.ts'
import { CollectiveError, disconnectedError, PeerError } from './errors.ts'
import { type Frame, FrameKind, takesPart } from './frame.ts'
import { type Greeted, Greetings } from './greetings.ts'
import { checkMembers, GroupEngine } from './group-engine.ts'
import type { LastWord } from './last-word.ts'
import type { PeerLimits } from './limits.ts'
import { Messages } from './messages.ts'
import { type ChannelOwner, PeerChannel } from './peer-channel.ts'

const TICK_MS = 50
/** One in this many looks includes all peers and the clock. */
const LOOKS = 256
/** One in this many looks without anything new includes whether it goes on. */
const IDLE_LOOKS = 16
/** The longest sleep that a message ends: timers and the news of the group are looked at as often. */
const SLEEP_MS = 1
/** The same where none does. */
const NAP_MS = 0.05
const CLOSED_GROUPS_MAX = 4096

/** A peer as the hub knows it. */
export interface Attached {
  readonly number: number
  /** The identity of its context. */
  readonly identity: number
  readonly channel: PeerChannel
  readonly messages: Messages
}

/** Told of peers that come and go. */
export interface HubOwner {
  attached(peer: Attached): void
  detached(number: number, error: Error | undefined): void
  /** The peer of this link is already connected over another. */
  merged(channel: PeerChannel, number: number): void
  /** A link ended before both had let each other in, or one of them turned the other away. */
  turnedAway(channel: PeerChannel, error: Error): void
}

/** What all peers of a context share: it knows the peer behind each link and the group of each frame. */
export class Hub implements ChannelOwner {
  readonly number: number
  readonly limits: Required<PeerLimits>
  readonly #owner: HubOwner
  readonly #peers = new Map<number, Attached>()
  readonly #numbers = new Map<PeerChannel, number>()
  readonly #greetings: Greetings
  readonly #groups = new Map<number, GroupEngine>()
  /** How often each list of members has made a group. */
  readonly #made = new Map<string, number>()
  readonly #early: EarlyFrames
  /** What is left to say of those that were closed last. */
  readonly #closedGroups = new Map<number, LastWord>()
  readonly #agreements: Agreements
  /** Called now and then by a thread that waits. */
  onSpin: (nowMs: number) => void = () => {}
  readonly #nap = new Int32Array(new SharedArrayBuffer(4))
  /** Of threads that block. */
  readonly #budget = new LookBudget()
  #timer: NodeJS.Timeout | undefined
  /** Ends what the watchdog looks at. */
  #unwatch: (() => void) | undefined

  constructor(number: number, limits: Required<PeerLimits>, owner: HubOwner) {
    this.number = number
    this.limits = limits
    this.#owner = owner
    this.#early = new EarlyFrames(limits)
    this.#greetings = new Greetings(number, limits, {
      openChannel: (link) => new PeerChannel(link, this),
      connected: (peer) => this.#peers.get(peer),
      connectedCount: () => this.#peers.size,
      attached: (greeted) => this.#attach(greeted),
      merged: (channel, peer) => owner.merged(channel, peer),
      turnedAway: (channel, error) => owner.turnedAway(channel, error),
    })
    this.#agreements = new Agreements({
      send: (peer, group, payload) => this.#peers.get(peer)?.channel.control(FrameKind.Agree, 0, 0, group, 0, payload),
      now: () => performance.now(),
      excluded: (group, error) => this.#groups.get(group)?.exclude(error),
    })
  }

  get(peer: number): Attached | undefined {
    return this.#peers.get(peer)
  }

  get peers(): readonly Attached[] {
    return [...this.#peers.values()]
  }

  /** Attach a link to a peer that has not yet said its number. */
  attach(link: MessageLink): PeerChannel {
    return this.#greetings.begin(link)
  }

  numberOf(channel: PeerChannel): number | undefined {
    return this.#numbers.get(channel)
  }

  // ---- groups
  // -------------------------------------------------------------------------------------------------------------------

  /** `occasion`: what else all members know it by; else how often these members have made a group. */
  group(members: readonly number[], occasion?: string): GroupEngine {
    checkMembers(members, (peer) => this.#peers.get(peer)?.channel, this.number)
    // A peer that was restarted has made no group yet, and its members no longer mean those of its predecessor.
    const list = members.map((member) => `${member}:${this.#identityOf(member)}`).join(',')
    const turn = (this.#made.get(list) ?? 0) + 1
    if (occasion === undefined) this.#made.set(list, turn)
    return this.#makeGroup(`${list}#${occasion ?? turn}`, [...members])
  }

  /**
   * Agree with the others of a group on who goes on, and make the group of these. The new group has failed already if
   * one of them was lost since.
   * @throws AgreementError, CollectiveError, ClosedError, the signal's reason.
   */
  async shrink(engine: GroupEngine, call: AgreementCall, signal?: AbortSignal): Promise<GroupEngine> {
    this.#endForShrinking(engine)
    const agreed = this.#agreements.agree(engine.group, call, signal)
    this.watch()
    return this.#makeShrunk(engine, await agreed)
  }

  /** The same, spinning over these channels. @throws ArgumentError, too: from within an operation that combines. */
  shrinkSync(engine: GroupEngine, call: AgreementCall, channels: readonly PeerChannel[]): GroupEngine {
    checkNotCombining()
    this.#endForShrinking(engine)
    let ranks: readonly number[] | undefined
    let failure: Error | undefined
    this.#agreements.begin(engine.group, call, {
      resolve: (agreed) => {
        ranks = agreed
      },
      reject: (error) => {
        failure = error
      },
    })
    // The agreement itself ends in time.
    const over = (): boolean => ranks !== undefined || failure !== undefined
    this.spin(over, channels, Number.POSITIVE_INFINITY, () => 'shrink')
    if (ranks === undefined) throw failure
    const shrunk = this.#makeShrunk(engine, ranks)
    this.flush()
    return shrunk
  }

  #endForShrinking(engine: GroupEngine): void {
    this.#checkAgreementSize(engine.peers)
    endForShrinking(engine)
  }

  #makeShrunk(engine: GroupEngine, ranks: readonly number[]): GroupEngine {
    const { group, peers } = engine
    if (!ranks.includes(engine.rank)) throw excludedError(engine, ranks)
    const members = ranks.map((rank) => peers[rank]!)
    const shrunk = this.#makeGroup(`${group}>${members.join(',')}`, members)
    const { lost, gone } = this.#agreements.absent(group)
    for (const [position, rank] of ranks.entries()) {
      if (lost.has(rank)) shrunk.lostPeer(peers[rank]!, new Error('the way to it ended while the group was agreed on'))
      if (gone.has(rank)) shrunk.neverCame(position)
      // The next that is agreed on does not wait for them.
      if (lost.has(rank) || gone.has(rank)) this.#agreements.without(shrunk.group, position, lost.has(rank))
    }
    return shrunk
  }

  #identityOf(member: number): number {
    return member === this.number ? this.#greetings.identity : this.#peers.get(member)!.identity
  }

  #checkAgreementSize(peers: readonly number[]): void {
    for (const peer of peers) {
      const channel = this.#peers.get(peer)?.channel
      if (channel === undefined || peers.length <= agreementSizeMax(channel.controlBytesMax)) continue
      throw new ArgumentError(
        'ringBytes',
        `the rings are too short for ${peers.length} peers to agree; raise link.ringBytes`,
      )
    }
  }

  #makeGroup(text: string, members: readonly number[]): GroupEngine {
    // 53 bits.
    const id = (hashText(text) & 0x1fffff) * 2 ** 32 + hashText(text, 0x01234567)
    if (this.#groups.has(id))
      throw new ArgumentError('members', 'the name of this group is taken by another group; close that first')
    const rank = members.indexOf(this.number)
    const engine = new GroupEngine(id, members, rank, this.limits, (peer) => this.#peers.get(peer)?.channel)
    this.#groups.set(id, engine)
    this.#agreements.add(engine)
    for (const { peer, frame, bytes } of this.#early.take(id)) {
      if (frame.kind === FrameKind.Agree) this.#agreements.came(peer, id, bytes)
      else engine.cameFrame(peer, frame, bytes, 0, bytes.length)
    }
    return engine
  }

  /**
   * True if the links to all of them go through shared memory: all are then on this machine, and so are the links among
   * them.
   */
  sharesMemoryWith(members: readonly number[]): boolean {
    return members.every(
      (peer) => peer === this.number || this.#peers.get(peer)?.channel.link.throughSharedMemory === true,
    )
  }

  /** True if a peer has begun a group that is not made here. */
  hasBegunOther(peer: number): boolean {
    return this.#early.has(peer)
  }

  dropGroup(engine: GroupEngine): void {
    this.#groups.delete(engine.group)
    this.#agreements.close(engine.group, new ClosedError('the group'))
    this.#closedGroups.set(engine.group, engine.lastWord!)
    if (this.#closedGroups.size > CLOSED_GROUPS_MAX) this.#closedGroups.delete(this.#closedGroups.keys().next().value!)
  }

  doneOf(group: number): number {
    return this.#groups.get(group)?.done ?? 0
  }

  // ---- waiting
  // -------------------------------------------------------------------------------------------------------------------

  /** Something waits: from now on time counts for groups. */
  watch(): void {
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS)
    this.#unwatch ??= watchWaits(() => collectiveWaits(this.#groups.values()))
  }

  /**
   * Spin until `over`, and move everything on in the meantime, most of all `channels`: others may have to make progress
   * first. `describe` is for the watchdog. @throws TimeoutError only if it is not over.
   */
  spin(
    over: () => boolean,
    channels: readonly PeerChannel[],
    timeoutMs: number,
    what: () => string,
    describe?: () => WaitDescription,
  ): void {
    const startedMs = performance.now()
    let watched: WatchedWait | undefined
    const budget = this.#budget
    this.flush()
    try {
      for (let looks = 1, idle = 0; !over(); looks += 1) {
        if (channels.reduce(look, 0) > 0) {
          idle = 0
          if (budget.isLooking) budget.found(performance.now())
        } else idle += 1
        const isDue = looks % LOOKS === 0
        if (!isDue && (idle === 0 || idle % IDLE_LOOKS !== 0)) continue
        const nowMs = performance.now()
        const alarms = idle === 0 || budget.looksOn(nowMs) ? undefined : this.#arm()
        if (alarms === undefined && !isDue) continue
        if (this.#lookAtAll(nowMs) > 0) idle = 0
        if (over()) break
        if (nowMs - startedMs > timeoutMs) throw new TimeoutError(`${what()} did not happen within ${timeoutMs} ms`)
        if (alarms === undefined || idle === 0) continue
        watched ??= describe && new WatchedWait(describe)
        watched?.look()
        this.#sleep(alarms)
      }
    } finally {
      budget.leave()
      watched?.end()
      this.flush()
    }
  }

  /** What ends a sleep from now on; nothing if there is a link that cannot. */
  #arm(): Alarm[] {
    const alarms = new Set<Alarm | undefined>()
    for (const { channel } of this.#peers.values()) if (channel.link.open) alarms.add(channel.link.arm?.())
    return alarms.has(undefined) ? [] : ([...alarms] as Alarm[])
  }

  #sleep(alarms: readonly Alarm[]): void {
    if (alarms.length === 0) {
      Atomics.wait(this.#nap, 0, 0, NAP_MS)
      return
    }
    const sinceMs = performance.now()
    const descriptors = Int32Array.from(alarms, ({ descriptor }) => descriptor)
    const ready = new Int32Array(alarms.length)
    if (native.poll(descriptors, ready, alarms.length, SLEEP_MS) === 0) return
    this.#budget.slept(performance.now() - sinceMs)
    for (const [index, alarm] of alarms.entries()) if (ready[index] !== 0) alarm.rang()
  }

  /**
   * For a thread that blocks, before it waits and when it goes on. What was committed outside of a poll would otherwise
   * leave only at the end of this turn of the event loop.
   */
  flush(): void {
    for (const { channel } of this.#peers.values()) if (channel.link.open) channel.link.flush()
  }

  /** What timers and the event loop do otherwise; how many messages came. */
  #lookAtAll(nowMs: number): number {
    let came = 0
    for (const { channel } of this.#peers.values()) {
      came = look(came, channel)
      channel.link.attend?.(nowMs)
    }
    for (const group of this.#groups.values()) group.tick(nowMs)
    this.#agreements.tick(nowMs)
    this.onSpin(nowMs)
    return came
  }

  /** Resolves when all that were turned away have been told. */
  close(): Promise<void> {
    this.#stopWatching()
    for (const group of [...this.#groups.values()]) {
      group.close()
      this.dropGroup(group)
    }
    return this.#greetings.close()
  }

  #tick(): void {
    const nowMs = performance.now()
    this.#agreements.tick(nowMs)
    let busy = this.#agreements.busy
    for (const group of this.#groups.values()) {
      busy ||= group.busy
      group.tick(nowMs)
    }
    if (!busy) this.#stopWatching()
  }

  #stopWatching(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#unwatch?.()
    this.#unwatch = undefined
  }

  // ---- what comes
  // ----------------------------------------------------------------------------------------------------------------

  cameFrame(channel: PeerChannel, frame: Frame, bytes: Uint8Array, at: number, length: number): void {
    const number = this.#numbers.get(channel)
    if (number === undefined) this.#greetings.cameFrame(channel, frame, bytes, at, length)
    else if (frame.kind === FrameKind.Message || frame.kind === FrameKind.MessageGrant) {
      if (!this.#peers.get(number)!.messages.cameFrame(frame, bytes, at, length))
        channel.link.destroy(turnedAway(number, 'it sent a message that is invalid or longer than messageBytesMax'))
    } else if (frame.kind === FrameKind.Agree) {
      const payload = bytes.slice(at, at + length)
      const isSense = this.#agreements.came(number, frame.group, payload)
      if (isSense === undefined) {
        if (!this.#closedGroups.has(frame.group)) this.#keep(channel, number, frame, bytes, at, length)
      } else if (!isSense) channel.link.destroy(turnedAway(number, 'its message about who goes on is invalid'))
    } else {
      const group = this.#groups.get(frame.group)
      const lastWord = this.#closedGroups.get(frame.group)
      if (group !== undefined) group.cameFrame(number, frame, bytes, at, length)
      else if (lastWord === undefined) this.#keep(channel, number, frame, bytes, at, length)
      else if (takesPart(frame.kind)) lastWord.tell(channel)
    }
  }

  channelEnded(channel: PeerChannel, error: Error | undefined): void {
    const number = this.#numbers.get(channel)
    if (number === undefined) {
      this.#greetings.channelEnded(channel, error)
      return
    }
    this.#numbers.delete(channel)
    const attached = this.#peers.get(number)
    this.#peers.delete(number)
    this.#early.forget(number)
    attached?.messages.fail(
      error === undefined
        ? disconnectedError(number, channel.isClosing)
        : new PeerError('ERR_AETHER_PEER_LOST', number, `peer ${number} is lost: ${error.message}`, { cause: error }),
    )
    for (const group of this.#groups.values()) group.lostPeer(number, error)
    this.#agreements.lostPeer(number)
    this.#owner.detached(number, error)
  }

  #attach({ number, identity, channel, windowBytes }: Greeted): void {
    this.#numbers.set(channel, number)
    const { messageWindowBytes, messageBytesMax } = this.limits
    const messages = new Messages(channel, windowBytes, messageWindowBytes, messageBytesMax)
    const attached = { number, identity, channel, messages }
    this.#forgetLists(number, identity)
    this.#peers.set(number, attached)
    this.#owner.attached(attached)
  }

  /** Lists with the previous peer of this number no longer mean any peer. */
  #forgetLists(number: number, identity: number): void {
    for (const list of this.#made.keys())
      if (list.split(',').some((each) => each.startsWith(`${number}:`) && each !== `${number}:${identity}`))
        this.#made.delete(list)
  }

  /** The others of a group may have begun before it is made here. */
  #keep(channel: PeerChannel, peer: number, frame: Frame, bytes: Uint8Array, at: number, length: number): void {
    const refused = this.#early.keep(peer, frame, bytes, at, length)
    if (refused === undefined) return
    const code = refused.isLimit ? 'ERR_AETHER_PEERS_LIMIT' : 'ERR_AETHER_PEER_PROTOCOL'
    channel.link.destroy(turnedAway(peer, refused.why, code))
  }
}

/** What comes of a channel, and what waits for room on it; `came` and how many messages that was. */
function look(came: number, channel: PeerChannel): number {
  const more = channel.link.poll()
  channel.pump()
  return came + more
}

function turnedAway(
  number: number,
  why: string,
  code: 'ERR_AETHER_PEERS_LIMIT' | 'ERR_AETHER_PEER_PROTOCOL' = 'ERR_AETHER_PEER_PROTOCOL',
): PeerError {
  return new PeerError(code, number, `peer ${number} was turned away: ${why}`)
}

/** Nothing more is called in it, at no rank. */
export function endForShrinking(engine: GroupEngine): void {
  if (engine.closed) throw new ClosedError('the group')
  const why = 'the group is being shrunk'
  engine.giveUp(new CollectiveError('ERR_AETHER_COLLECTIVE_ABANDONED', engine.rank, engine.peers[engine.rank]!, why))
}
