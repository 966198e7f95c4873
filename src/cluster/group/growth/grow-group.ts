import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, KeepAlive } from '../../../runtime/index.ts'
import type { RemoteEndpoint } from '../../../verbs/index.ts'
import { readSecret } from '../../hosts/index.ts'
import { type ConnectionLimits, connectionLimits } from '../../hosts/sealed-connection.ts'
import { Membership } from '../../membership.ts'
import type { GroupAgentData } from '../assemble-group.ts'
import { Barrier } from '../barrier.ts'
import { JoinError, MissingMembersError } from '../errors.ts'
import type { GroupParts } from '../group.ts'
import type { GroupGrowth, GroupNote, GroupPeer } from '../group-machine.ts'
import type { GrowthPlan } from '../group-options.ts'
import type { MeetingPlace } from '../meeting.ts'
import { NoteBox } from '../note-box.ts'
import type { RankMember } from '../rank-member.ts'
import { shownPlaces } from '../shown-places.ts'
import { Door } from './door.ts'
import { DoorCaller, SeedSilence } from './door-caller.ts'
import {
  type DoorAnswer,
  endpointOf,
  type GroupStatus,
  type MemberCard,
  MOVED,
  type PlainEndpoint,
  plainEndpoint,
} from './introduction.ts'
import { RANKS_MAX } from './limits.ts'
import { ownSecret } from './own-secret.ts'
import { inWords, isLoopback, type Seed } from './seeds.ts'

/** Between two attempts, at least and at most: processes that start together do not stay in step. */
const PAUSE_MS = [30, 120] as const
/** A member that takes over a seed's address needs less than this. */
const TAKE_OVER_MS = 400
/** What a member of the group, or one that is about to be, publishes in the space. */
const IN_GROUP = Uint8Array.of(0x67, 0x72, 0x6f, 0x77)
const NOT_IN_GROUP = new Uint8Array()
const DEVICE = 'shm0'

interface Assembled {
  readonly parts: GroupParts
  readonly notes: NoteBox
}

/**
 * Join the group of that name, or make it.
 *
 * Who makes it. Only the process that listens at the first seed's address, which one process can do. It must also find
 * that no other process of this machine is in the group, and that no process listens at any other seed's address. An
 * address that does not answer is no proof of that.
 *
 * How others join. Any member that listens tells the present view. The candidate makes a connection for each member,
 * and they for it. Then the members agree on it; see membership-machine.ts. If the view changes meanwhile, it begins
 * again, with another rank and other connections.
 */
export function growGroup(plan: GrowthPlan, machine: URL, extra: object): Promise<Assembled> {
  return new KeepAlive().during(new Growing(plan, machine, extra).run())
}

class Growing {
  readonly #plan: GrowthPlan
  readonly #machine: URL
  readonly #extra: object
  readonly #secret: Buffer
  readonly #limits: ConnectionLimits
  readonly #deadline: number
  /** Why each seed did not answer, as of the last look. */
  readonly #silences = new Map<Seed, SeedSilence>()
  #door: Door
  #membership: Membership | undefined

  constructor(plan: GrowthPlan, machine: URL, extra: object) {
    this.#plan = plan
    this.#machine = machine
    this.#extra = extra
    const isOwn = plan.secretFile === undefined && plan.seeds.every(isLoopback)
    this.#secret = isOwn ? ownSecret(plan.name) : readSecret(plan.secretFile)
    this.#limits = connectionLimits()
    this.#deadline = performance.now() + plan.timeoutMs
    this.#door = this.#newDoor()
  }

  async run(): Promise<Assembled> {
    const { name, timeoutMs, signal } = this.#plan
    try {
      this.#membership = await Membership.enter(`group-${name}`, { timeoutMs })
      for (;;) {
        signal?.throwIfAborted()
        const assembled = (await this.#join()) ?? (await this.#make())
        if (assembled !== undefined) return assembled
        if (performance.now() > this.#deadline) throw this.#late()
        await sleep(PAUSE_MS[0] + Math.random() * (PAUSE_MS[1] - PAUSE_MS[0]))
      }
    } catch (error) {
      await this.#door.close()
      await this.#membership?.close()
      throw error
    }
  }

  #newDoor(): Door {
    const { name, seeds } = this.#plan
    return new Door({ group: name, secret: this.#secret, seeds, limits: this.#limits })
  }

  #late(): MissingMembersError {
    const { name, timeoutMs, seeds } = this.#plan
    const found = seeds.map((seed) => `${inWords(seed)}: ${this.#silences.get(seed)?.message ?? 'no group there yet'}`)
    const rule = 'the first process of a group has to listen at the first seed, while no process listens at the others'
    return new MissingMembersError(
      [],
      `no member of group '${name}' let this process in within ${timeoutMs} ms, and it cannot make the group (${found.join('; ')}); ${rule}`,
    )
  }

  // ---- making it
  // ----------------------------------------------------------------------------------------------------------------

  /** Undefined if that is not possible now. */
  async #make(): Promise<Assembled | undefined> {
    const [first, ...others] = this.#plan.seeds
    if (!this.#isFree([first!, ...others])) return undefined
    const trouble = await this.#door.begin()
    if (trouble !== undefined) {
      await this.#renewDoor()
      this.#silences.set(first!, new SeedSilence(`cannot listen there: ${trouble}`))
      return undefined
    }
    if (await this.#isThereAGroup(others)) {
      // Its members are to listen there.
      await this.#renewDoor()
      await sleep(TAKE_OVER_MS)
      return undefined
    }
    const card = this.#card()
    const growth = { view: { epoch: 0, members: [0] }, given: 1, card, cards: [card] }
    this.#membership!.publish(IN_GROUP)
    const start = await this.#startAgent(0, growth, this.#plan.leaseMs)
    return start.assembled([])
  }

  #isFree(seeds: readonly Seed[]): boolean {
    return seeds.every((seed) => this.#silences.get(seed)?.nobody === true)
  }

  async #isThereAGroup(others: readonly Seed[]): Promise<boolean> {
    const membership = this.#membership!
    const isIn = membership.members().some((member) => {
      return member.slot !== membership.self.slot && (membership.card(member)?.length ?? 0) > 0
    })
    if (isIn || others.length === 0) return isIn
    await sleep(TAKE_OVER_MS)
    const caller = await this.#call(others)
    caller?.close()
    return caller !== undefined || !this.#isFree(others)
  }

  async #renewDoor(): Promise<void> {
    await this.#door.close()
    this.#door = this.#newDoor()
  }

  // ---- joining it
  // ----------------------------------------------------------------------------------------------------------------

  /** Undefined if no member answers, or the group has changed meanwhile. */
  async #join(): Promise<Assembled | undefined> {
    const caller = await this.#call(this.#plan.seeds)
    if (caller === undefined) return undefined
    try {
      const status = (await caller.ask({ ask: 'status' })) as GroupStatus | typeof MOVED | null
      if (status === null || status === MOVED) return undefined
      if (status.given >= RANKS_MAX) {
        const why = `group '${this.#plan.name}' has given all of its ${RANKS_MAX} ranks`
        throw new JoinError(`${why}, and gives none twice; end its members and start it again`)
      }
      return await this.#enter(caller, status)
    } catch (error) {
      if (error instanceof SeedSilence) return undefined
      throw error
    } finally {
      caller.close()
    }
  }

  /** The first seed that answers. @throws JoinError if one will not take this process. */
  async #call(seeds: readonly Seed[]): Promise<DoorCaller | undefined> {
    for (const seed of seeds) {
      try {
        const caller = await DoorCaller.connect(seed, this.#plan.name, this.#secret, this.#limits)
        this.#silences.delete(seed)
        return caller
      } catch (error) {
        if (!(error instanceof SeedSilence)) throw error
        if (error.final)
          throw new JoinError(`cannot join group '${this.#plan.name}' at ${inWords(seed)}: ${error.message}`)
        this.#silences.set(seed, error)
      }
    }
    return undefined
  }

  async #enter(caller: DoorCaller, status: GroupStatus): Promise<Assembled | undefined> {
    const { view, given, cards, leaseMs } = status
    const candidate = 1 + randomBytes(6).readUIntBE(0, 6)
    const card = this.#card()
    const growth: GroupGrowth = { view, given, candidate, card, cards }
    const start = await this.#startAgent(given, growth, leaseMs)
    try {
      this.#membership!.publish(IN_GROUP)
      const admitted = start.outcome(2 * leaseMs)
      admitted.catch(() => {})
      const isProposed = await this.#propose(caller, start.agent, { view, cards, candidate, card })
      if (isProposed && (await admitted)) return start.assembled(membersOf(status))
      await this.#withdraw(start)
      return undefined
    } catch (error) {
      await this.#withdraw(start)
      throw error
    }
  }

  async #withdraw(start: Start): Promise<void> {
    await start.close()
    if (this.#membership?.closed === false) this.#membership.publish(NOT_IN_GROUP)
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
      return { rank, endpoint, processId: cards[index]!.processId, pathMtu: undefined }
    })
    const ended = (await agent.command('connect', peers)) as number[]
    return ended.length === 0 && (await caller.ask({ ask: 'admit', candidate, epoch })) === 'proposed'
  }

  // ---- what a member is made of
  // ----------------------------------------------------------------------------------------------------------------

  #card(): MemberCard {
    const { slot, epoch } = this.#membership!.self
    return { processId: process.pid, host: hostname(), slot, epoch }
  }

  async #startAgent(rank: number, growth: GroupGrowth, leaseMs: number): Promise<Start> {
    const membership = this.#membership!
    const barrier = new Barrier(RANKS_MAX)
    const { place, open } = this.#door.place()
    const group = {
      ...{ rank, size: RANKS_MAX, device: DEVICE, control: undefined, barrierWords: barrier.words, leaseMs },
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
      const meeting = new GrownMeeting(membership, this.#door)
      const { processId, host } = growth.card
      const self = { rank, processId, host, member: membership.self, pathMtu: undefined }
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

function membersOf({ view, cards }: GroupStatus): RankMember[] {
  return view.members.map((rank, index) => {
    const { processId, host, slot, epoch } = cards[index]!
    return { rank, processId, host, member: { slot, epoch, processId }, pathMtu: undefined }
  })
}

/** What a member of a group that grows holds beside its agent. */
class GrownMeeting implements MeetingPlace {
  readonly membership: Membership
  readonly device = DEVICE
  readonly oneMachine = true
  readonly #door: Door

  constructor(membership: Membership, door: Door) {
    this.membership = membership
    this.#door = door
  }

  /** What was sent in shared memory has arrived. */
  async left(): Promise<void> {}

  async close(): Promise<void> {
    await this.#door.close()
    await this.membership.close()
  }
}
