import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, KeepAlive, readSecret, SECRET_FILE_VARIABLE } from '../../../runtime/index.ts'
import type { RemoteEndpoint } from '../../../verbs/index.ts'
import { type Machine, thisMachine } from '../../hosts/index.ts'
import { connectionLimits } from '../../hosts/sealed-connection.ts'
import type { Member } from '../../member-table.ts'
import { Membership } from '../../membership.ts'
import { describeProcess } from '../../process-identity.ts'
import { Barrier } from '../barrier.ts'
import { type GroupDevice, inspectDevice, SHM } from '../device-choice.ts'
import { JoinError, MissingMembersError } from '../errors.ts'
import type { GroupParts } from '../group.ts'
import type { GroupAgentData } from '../group-agent-data.ts'
import type { GroupGrowth, GroupNote, GroupPeer } from '../group-machine.ts'
import type { GrowthPlan } from '../group-options.ts'
import type { MeetingPlace } from '../meeting.ts'
import { NoteBox } from '../note-box.ts'
import type { RankMember } from '../rank-member.ts'
import { shownPlaces } from '../shown-places.ts'
import { Door } from './door.ts'
import { DoorCaller, SeedSilence } from './door-caller.ts'
import type { GroupAddress } from './door-message.ts'
import {
  type DoorAnswer,
  endpointOf,
  type GroupStatus,
  isVisible,
  type MemberCard,
  MOVED,
  type PlainEndpoint,
  pathMtuOf,
  plainEndpoint,
  rankMember,
} from './introduction.ts'
import { MEMBERS_AT_ONCE_MAX, RANKS_MAX } from './limits.ts'
import { inWords, placeOfSeed, type Seed, type SeedPlace } from './seeds.ts'

/** Between two attempts, at least and at most: processes that start together do not stay in step. */
const PAUSE_MS = [30, 120] as const
/** How long a seed is waited for before the next one is tried as well. */
const SEED_MS = 300
/** How long the members that one seed knows of may take to let a process in: two leases, or what a timer takes. */
const PATIENCE_MS_MAX = 2 ** 31 - 1
/** What a member of the group, or one that is about to be, publishes in the space. */
const IN_GROUP = Buffer.from('in the group')
const NOT_IN_GROUP = new Uint8Array()
/**
 * How long the machines of all seeds have to say that no process listens there, before a group over a network is made.
 * A member that takes over a seed's address does so within less.
 */
const SILENCE_MS = 1000

interface Assembled {
  readonly parts: GroupParts
  readonly notes: NoteBox
}

/**
 * Join the group of that name, or make it.
 *
 * Which process makes it: the one that holds the first seed's address. It does so only if no other process of the
 * group's space is in the group. It looks, and publishes that it is in the group itself, under the lock of the space. A
 * candidate publishes the same before it asks to be admitted. It stays published until the agent or the thread of the
 * process has ended. So there is one group:
 *
 * 1. Of two processes that make groups, one is second. It found no process in the group that the first has made.
 * 2. So at that time the first group had neither a member nor a candidate.
 * 3. Only a member admits others. So the first group has no member later either.
 *
 * No time-out takes part in this. Over shared memory, processes that do not share a space are not in one group. A
 * process that meets a member of another space at a seed is told so.
 *
 * Over a network each machine has a space of its own, and the members of other machines have to be found at the seeds:
 *
 * 1. A group has a member on a machine with the address of a seed, or its members end.
 * 2. A member of such a machine listens there, unless another of that machine does. It takes over within
 *    {@link SILENCE_MS}.
 * 3. So for as long as there is a group, a machine of a seed does not refuse connections for that time. A group is made
 *    when all have, for that time. One that does not answer does not refuse.
 *
 * The second rule does not hold for a member that is stopped when the one that listens on its machine ends.
 *
 * How others join. Any member that listens tells the present view. The candidate makes a connection for each member,
 * and they for it. Then the members agree on it; see membership-machine.ts. If the view changes meanwhile, it begins
 * again, with another rank and other connections.
 */
export function growGroup(plan: GrowthPlan, machine: URL, extra: object): Promise<Assembled> {
  return new KeepAlive().during(grow(plan, machine, extra))
}

async function grow(plan: GrowthPlan, machine: URL, extra: object): Promise<Assembled> {
  const membership = await Membership.enter(`group-${plan.name}`, plan)
  try {
    const { directory } = membership.arena
    if (directory !== undefined && plan.device === SHM) {
      const why = `space '${membership.name}' is in ${directory}, where processes of several containers meet`
      throw new JoinError(`cannot join: ${why}, and members need one; choose another name`)
    }
    return await new Growing(plan, membership, machine, extra, await placeOf(plan)).run()
  } catch (error) {
    await membership.close()
    throw error
  }
}

/** Where this process is. */
interface Place extends Machine {
  readonly device: GroupDevice
  /** In the order of the seeds. */
  readonly seeds: readonly SeedPlace[]
}

/** @throws JoinError, VerbsError for what is wrong with the device. */
async function placeOf({ device, seeds }: GrowthPlan): Promise<Place> {
  const places = await Promise.all(seeds.map(placeOfSeed))
  return { ...thisMachine(), seeds: places, device: inspectDevice(device, MEMBERS_AT_ONCE_MAX) }
}

class Growing {
  readonly #plan: GrowthPlan
  readonly #place: Place
  readonly #membership: Membership
  readonly #machine: URL
  readonly #extra: object
  readonly #secret: Buffer
  readonly #limits = connectionLimits()
  readonly #deadline: number
  /** Why each seed did not answer, as of the last look. */
  readonly #silences = new Map<Seed, SeedSilence>()
  /** As of the last look. */
  #isFull = false
  #attempts = 0
  /** Since when the machines of all seeds have said that no process listens there. */
  #silentSince: number | undefined
  #door: Door

  constructor(plan: GrowthPlan, membership: Membership, machine: URL, extra: object, place: Place) {
    this.#plan = plan
    this.#place = place
    this.#membership = membership
    this.#machine = machine
    this.#extra = extra
    // Only processes of this user can read the number of the space.
    const isShared = this.#address.space !== null && plan.secretFile === undefined
    this.#secret = isShared ? Buffer.from(this.#address.space) : readSecret(plan.secretFile)
    // Devices of this process, in its Workers too, prove to their peers that they know it.
    if (this.#address.space === null) process.env[SECRET_FILE_VARIABLE] ??= plan.secretFile
    this.#deadline = performance.now() + plan.timeoutMs
    this.#door = this.#newDoor()
  }

  async run(): Promise<Assembled> {
    try {
      for (;;) {
        this.#plan.signal?.throwIfAborted()
        const assembled = (await this.#join()) ?? (await this.#make())
        if (assembled !== undefined) return assembled
        if (performance.now() > this.#deadline) throw this.#late()
        await sleep(PAUSE_MS[0] + Math.random() * (PAUSE_MS[1] - PAUSE_MS[0]))
      }
    } catch (error) {
      await this.#door.close()
      throw error
    }
  }

  #leftMs(): number {
    return Math.max(1, this.#deadline - performance.now())
  }

  /** What members have in common. */
  get #address(): GroupAddress {
    const { linkLayer } = this.#place.device
    const space = this.#plan.device === SHM ? this.#membership.arena.identity.nonce : null
    return { group: this.#plan.name, linkLayer, space }
  }

  #newDoor(): Door {
    const { seeds } = this.#place
    return new Door({ address: this.#address, secret: this.#secret, seeds, limits: this.#limits })
  }

  #late(): MissingMembersError {
    const { name, timeoutMs, seeds } = this.#plan
    const found = seeds.map((seed) => `${inWords(seed)}: ${this.#silences.get(seed)?.message ?? 'no group there yet'}`)
    if (this.#isFull) {
      const why = `it has ${MEMBERS_AT_ONCE_MAX} members, the maximum; end one first`
      return new MissingMembersError([], `group '${name}' did not let this process in within ${timeoutMs} ms: ${why}`)
    }
    const others = this.#othersInGroup().map(({ processId }) => describeProcess(processId))
    const why =
      others.length > 0
        ? `it cannot make the group, since others are in it: ${others.join(', ')}; end them, or pass the seeds that they have`
        : 'it cannot make the group: a process does that which listens at the first seed, when the machines of all others say that none listens there'
    return new MissingMembersError(
      [],
      `no member of group '${name}' let this process in within ${timeoutMs} ms (${found.join('; ')}), and ${why}`,
    )
  }

  // ---- making it
  // ----------------------------------------------------------------------------------------------------------------

  /** Undefined if that is not possible now. */
  async #make(): Promise<Assembled | undefined> {
    if (!this.#isSilent()) {
      this.#silentSince = undefined
      return undefined
    }
    this.#silentSince ??= performance.now()
    const neededMs = this.#plan.device === SHM ? 0 : SILENCE_MS
    if (performance.now() - this.#silentSince < neededMs || this.#othersInGroup().length > 0) return undefined
    const trouble = await this.#door.begin()
    if (trouble !== undefined) {
      this.#silences.set(this.#plan.seeds[0]!, new SeedSilence(`this process cannot listen there: ${trouble}`))
      return undefined
    }
    if (!(await this.#found())) {
      // If there is a group, its members are to listen there.
      await this.#door.close()
      this.#door = this.#newDoor()
      return undefined
    }
    const card = this.#card()
    const growth = { view: { epoch: 0, members: [0] }, given: 1, card, cards: [card] }
    const start = await this.#startAgent(0, growth, this.#plan.leaseMs)
    return start.assembled([])
  }

  /** No process listens at any seed. One that does would let this one in, or say why not. */
  #isSilent(): boolean {
    return this.#plan.seeds.every((seed) => this.#silences.get(seed)?.nobody === true)
  }

  /** Be the first in the group; false if another is. */
  #found(): Promise<boolean> {
    const membership = this.#membership
    return membership.locked(() => {
      membership.settleMembers()
      if (this.#othersInGroup().length > 0) return false
      membership.publish(IN_GROUP)
      return true
    })
  }

  #othersInGroup(): readonly Member[] {
    const membership = this.#membership
    return membership.members().filter((member) => {
      const said = membership.card(member)
      return member.slot !== membership.self.slot && said !== undefined && IN_GROUP.equals(said)
    })
  }

  // ---- joining it
  // ----------------------------------------------------------------------------------------------------------------

  /** Undefined if no member answers, or the group has changed meanwhile. */
  async #join(): Promise<Assembled | undefined> {
    const caller = await this.#call(this.#seedsInTurn())
    if (caller === undefined) return undefined
    const { signal } = this.#plan
    const end = (): void => caller.close()
    const timer = setTimeout(end, this.#leftMs())
    signal?.addEventListener('abort', end)
    try {
      const status = (await caller.ask({ ask: 'status' })) as GroupStatus | typeof MOVED | null
      if (status === null || status === MOVED) return undefined
      if (status.given >= RANKS_MAX) {
        const why = `group '${this.#plan.name}' has given all of its ${RANKS_MAX} ranks`
        throw new JoinError(`${why}, and gives none twice; end its members and start it again`)
      }
      this.#isFull = status.view.members.length >= MEMBERS_AT_ONCE_MAX
      return this.#isFull ? undefined : await this.#enter(caller, status)
    } catch (error) {
      if (error instanceof SeedSilence) return undefined
      throw error
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      end()
    }
  }

  /** Another one first each time: a member that is cut off from most others admits no one, but answers. */
  #seedsInTurn(): readonly Seed[] {
    const { seeds } = this.#plan
    const first = this.#attempts++ % seeds.length
    return [...seeds.slice(first), ...seeds.slice(0, first)]
  }

  /**
   * The first seed that answers. A machine that does not answer is not waited for while another might: the next seed is
   * tried soon, and the attempts go on side by side. @throws JoinError if one will not take this process.
   */
  async #call(seeds: readonly Seed[]): Promise<DoorCaller | undefined> {
    const attempts: Promise<DoorCaller | undefined>[] = []
    const settled = new Set<Promise<DoorCaller | undefined>>()
    let found: DoorCaller | undefined
    try {
      for (const seed of seeds) {
        const attempt = this.#try(seed)
        attempts.push(attempt)
        attempt.finally(() => settled.add(attempt)).catch(() => {})
        found = await Promise.race([attempt, sleep(SEED_MS, undefined)])
        if (found !== undefined) break
      }
      while (found === undefined && settled.size < attempts.length)
        found = await Promise.race(attempts.filter((attempt) => !settled.has(attempt)))
      return found
    } finally {
      // Those that answer later are not needed.
      const close = (caller: DoorCaller | undefined): void => {
        if (caller !== found) caller?.close()
      }
      for (const attempt of attempts) attempt.then(close, () => {})
    }
  }

  /** @throws JoinError if a process answers that will not take this one. */
  async #try(seed: Seed): Promise<DoorCaller | undefined> {
    const handshakeMs = Math.min(this.#limits.handshakeMs, this.#leftMs())
    const limits = { ...this.#limits, handshakeMs, signal: this.#plan.signal }
    try {
      const caller = await DoorCaller.connect(seed, this.#address, this.#secret, limits)
      this.#silences.delete(seed)
      return caller
    } catch (error) {
      if (!(error instanceof SeedSilence)) throw error
      if (error.final)
        throw new JoinError(`cannot join group '${this.#plan.name}' at ${inWords(seed)}: ${error.message}`)
      this.#silences.set(seed, error)
      return undefined
    }
  }

  async #enter(caller: DoorCaller, status: GroupStatus): Promise<Assembled | undefined> {
    const { view, given, cards, leaseMs } = status
    const candidate = 1 + randomBytes(6).readUIntBE(0, 6)
    const card = this.#card()
    const growth: GroupGrowth = { view, given, candidate, card, cards }
    const start = await this.#startAgent(given, growth, leaseMs)
    // A member that does not reach all others may not know that yet: another seed may.
    const patienceMs = Math.min(2 * leaseMs, PATIENCE_MS_MAX)
    const patience = setTimeout(() => caller.close(), patienceMs)
    try {
      this.#membership.publish(IN_GROUP)
      const admitted = start.outcome(patienceMs)
      admitted.catch(() => {})
      const isProposed = await this.#propose(caller, start.agent, { view, cards, candidate, card })
      if (isProposed && (await admitted)) return start.assembled(membersOf(status, card))
      await this.#withdraw(start)
      return undefined
    } catch (error) {
      await this.#withdraw(start)
      throw error
    } finally {
      clearTimeout(patience)
    }
  }

  async #withdraw(start: Start): Promise<void> {
    await start.close()
    this.#membership.publish(NOT_IN_GROUP)
  }

  async #propose(
    caller: DoorCaller,
    agent: Agent,
    { view, cards, candidate, card }: Pick<GroupGrowth, 'view' | 'cards' | 'card'> & { readonly candidate: number },
  ): Promise<boolean> {
    const { epoch, members } = view
    const own = (await agent.command('endpoints', undefined)) as RemoteEndpoint[]
    const endpoints = members.map((rank) => plainEndpoint(own[rank]!))
    const introduction = { candidate, epoch, card, endpoints }
    const theirs = (await caller.ask({ ask: 'introduce', introduction })) as DoorAnswer
    if (!Array.isArray(theirs) || theirs.length !== members.length) return false
    const peers = members.map((rank, index): GroupPeer => {
      const endpoint = endpointOf((theirs as PlainEndpoint[])[index]!)
      const theirCard = cards[index]!
      const processId = isVisible(card, theirCard) ? theirCard.processId : undefined
      return { rank, endpoint, processId, pathMtu: pathMtuOf(card, theirCard) }
    })
    const ended = (await agent.command('connect', peers)) as number[]
    return ended.length === 0 && (await caller.ask({ ask: 'admit', candidate, epoch })) === 'proposed'
  }

  // ---- what a member is made of
  // ----------------------------------------------------------------------------------------------------------------

  #card(): MemberCard {
    const { slot, epoch } = this.#membership.self
    const { device, seeds, ...machine } = this.#place
    const isAtSeed = seeds.some(({ isHere }) => isHere)
    return { ...machine, processId: process.pid, slot, epoch, isAtSeed, mtuBytes: device.mtuBytes }
  }

  async #startAgent(rank: number, growth: GroupGrowth, leaseMs: number): Promise<Start> {
    const membership = this.#membership
    const barrier = new Barrier(RANKS_MAX)
    const { place, open } = this.#door.place()
    const group = {
      ...{ rank, size: RANKS_MAX, device: this.#plan.device, control: undefined },
      ...{ barrierWords: barrier.words, leaseMs },
      onQuorumLost: this.#plan.onQuorumLost,
      growth,
    }
    const data: GroupAgentData = { ...this.#extra, ...shownPlaces(membership), group, door: place }
    const notes = new NoteBox()
    const start = new Start(notes)
    const spinNs = (this.#plan.spinMs ?? 0) * 1e6
    const agent = await Agent.start({
      ...{ machine: this.#machine, data, spinNs, seed: process.pid, transferList: [place.port] },
      onNote: (note) => start.hear(note as GroupNote),
    })
    barrier.attach(agent)
    start.agent = agent
    start.assembled = (others) => {
      open()
      const meeting = new GrownMeeting(membership, this.#door, this.#plan.device)
      const self = { ...rankMember(rank, growth.card, growth.card), member: membership.self }
      return { parts: { rank, size: RANKS_MAX, grows: true, meeting, agent, barrier, ranks: [...others, self] }, notes }
    }
    return start
  }
}

/** An agent that has been started, and may become a member's. */
class Start {
  agent!: Agent
  assembled!: (others: readonly RankMember[]) => Assembled
  readonly #notes: NoteBox
  #settle: (isAdmitted: boolean) => void = () => {}

  constructor(notes: NoteBox) {
    this.#notes = notes
  }

  hear(note: GroupNote): void {
    if (note.type === 'admitted') this.#settle(true)
    else if (note.type === 'refused') this.#settle(false)
    else this.#notes.take(note)
  }

  /** Resolves with whether it was admitted, or false after a while. */
  outcome(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), timeoutMs)
      this.#settle = (isAdmitted) => {
        clearTimeout(timer)
        resolve(isAdmitted)
      }
    })
  }

  /** Tell those who may have admitted it, and end. */
  async close(): Promise<void> {
    this.#settle(false)
    await this.agent.command('leave', undefined)
    await this.agent.close()
  }
}

function membersOf({ view, cards }: GroupStatus, own: MemberCard): RankMember[] {
  return view.members.map((rank, index) => rankMember(rank, cards[index]!, own))
}

/** What a member of a group that grows holds beside its agent. */
class GrownMeeting implements MeetingPlace {
  readonly membership: Membership
  readonly device: string
  readonly #door: Door

  constructor(membership: Membership, door: Door, device: string) {
    this.membership = membership
    this.device = device
    this.#door = door
  }

  get oneMachine(): boolean {
    return this.device === SHM
  }

  /** What was sent has arrived: the agent has waited for that. */
  async left(): Promise<void> {}

  async close(): Promise<void> {
    await this.#door.close()
    await this.membership.close()
  }
}
