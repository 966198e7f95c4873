import { type GroupEvent, MESSAGE_BYTES_MAX } from 'aether-dsm/internal/cluster'
import type { NodeGroup } from 'aether-dsm/internal/index-service'
import type { SimulatedProgram } from './simulated-program.ts'

type Member = ReturnType<NodeGroup['members']>[number]
type Listener = (rank: number, value: unknown) => void

/** What programs tell each other takes so long. */
const TELL_NS_MIN = 30_000
const TELL_NS_MAX = 400_000
/** The same, where it is late. */
const LATE_NS_MAX = 40_000_000
const LATE = 0.02
/** A path that is cut is tried again. */
const AGAIN_NS = 2_000_000
/** When each member knows of one that has come, or has ended. */
const VIEW_NS_MAX = 30_000_000

/** A message on its way, with what it is for when it comes. */
interface Way {
  readonly queue: (() => void)[]
  isMoving: boolean
}

/** The members of a simulated group, as they are. Each knows of it by and by. */
export class SimulatedMembership {
  readonly groups: Map<number, SimulatedGroup> = new Map<number, SimulatedGroup>()
  /** Called with what a member does, before it is done. */
  onTell: (group: SimulatedGroup, topic: string, value: unknown) => void = () => undefined
  readonly #ways = new Map<string, Way>()
  readonly #locks = new Map<string, Lock>()
  #next = 0

  join(program: SimulatedProgram): SimulatedGroup {
    const rank = this.#next
    this.#next += 1
    const group = new SimulatedGroup(this, program, rank)
    for (const other of this.groups.values()) group.knows(other)
    group.knows(group)
    for (const other of this.groups.values()) other.seesLater('joined', group)
    this.groups.set(rank, group)
    return group
  }

  /** It has left, or its process has ended for certain. */
  ended(rank: number, type: 'left' | 'died'): void {
    const gone = this.groups.get(rank)
    if (gone === undefined) return
    this.groups.delete(rank)
    for (const lock of this.#locks.values()) lock.leave(rank)
    for (const other of this.groups.values()) other.seesLater(type, gone)
  }

  /** In order for each pair; later while the path is cut. */
  tell(from: SimulatedGroup, to: number, topic: string, value: unknown): void {
    this.onTell(from, topic, value)
    const target = this.groups.get(to)
    if (target === undefined) return
    const name = `${from.rank}/${to}`
    const way = this.#ways.get(name) ?? { queue: [], isMoving: false }
    this.#ways.set(name, way)
    const text = JSON.stringify(value)
    way.queue.push(() => target.program.tell(() => target.hear(from.rank, topic, JSON.parse(text))))
    this.#move(from, target, way)
  }

  #move(from: SimulatedGroup, to: SimulatedGroup, way: Way): void {
    if (way.isMoving || way.queue.length === 0) return
    way.isMoving = true
    const { kernel, network } = from.program.cluster
    const stream = kernel.stream('tells')
    const ns = stream.between(TELL_NS_MIN, stream.chance(LATE) ? LATE_NS_MAX : TELL_NS_MAX)
    const arrive = (): void => {
      if (network.path(from.program.host.index, to.program.host.index).cuts > 0 || !to.hasMet(from.rank)) {
        kernel.after(AGAIN_NS, arrive)
        return
      }
      way.isMoving = false
      way.queue.shift()!()
      this.#move(from, to, way)
    }
    kernel.after(ns, arrive)
  }

  lock(name: string): Lock {
    const lock = this.#locks.get(name) ?? new Lock()
    this.#locks.set(name, lock)
    return lock
  }
}

/** One holder at a time, in the order in which they came. A member that has ended holds nothing. */
class Lock {
  #queue: { readonly rank: number; readonly held: () => void }[] = []

  enter(rank: number, held: () => void): void {
    this.#queue.push({ rank, held })
    if (this.#queue.length === 1) held()
  }

  leave(rank: number): void {
    const first = this.#queue[0]
    const index = this.#queue.findIndex((each) => each.rank === rank)
    if (index >= 0) this.#queue.splice(index, 1)
    const next = this.#queue[0]
    if (next !== undefined && next !== first) next.held()
  }
}

/** A group as one of its members has it. */
export class SimulatedGroup implements NodeGroup {
  readonly rank: number
  readonly program: SimulatedProgram
  readonly grows = true
  readonly oneMachine = false
  closed = false
  readonly #membership: SimulatedMembership
  /** What the program knows. */
  readonly #members = new Map<number, Member>()
  /** What its agent knows. */
  readonly #met = new Set<number>()
  readonly #ended = new Set<number>()
  readonly #posts = new Map<string, unknown>()
  readonly #gone = new Set<number>()
  readonly #listeners = new Set<(event: GroupEvent) => void>()
  readonly #topics = new Map<string, Listener>()
  readonly #kept = new Map<string, { readonly rank: number; readonly value: unknown }[]>()

  constructor(membership: SimulatedMembership, program: SimulatedProgram, rank: number) {
    this.#membership = membership
    this.program = program
    this.rank = rank
  }

  get size(): number {
    return this.#members.size
  }

  get device(): string {
    return `${this.program.cluster.device}/${this.program.host.index}`
  }

  members(): readonly Member[] {
    return [...this.#members.values()]
  }

  isMember(rank: number): boolean {
    return this.#members.has(rank)
  }

  async tell(rank: number, topic: string, value: unknown): Promise<void> {
    this.#check(topic, value)
    // What is told to one that is gone is dropped.
    if (!this.#gone.has(rank)) this.#membership.tell(this, rank, topic, value)
    await this.#pause()
  }

  onTold(topic: string, listener: Listener): () => void {
    this.#topics.set(topic, listener)
    const early = this.#kept.get(topic) ?? []
    this.#kept.delete(topic)
    for (const { rank, value } of early) listener(rank, value)
    return () => {
      if (this.#topics.get(topic) === listener) this.#topics.delete(topic)
    }
  }

  onEvent(listener: (event: GroupEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  isGone(rank: number): boolean {
    return rank <= Math.max(...this.#members.keys(), ...this.#gone) && !this.#members.has(rank)
  }

  /** Its agent listens to that rank, or knows that it is gone. */
  hasMet(rank: number): boolean {
    return this.#met.has(rank) || this.#ended.has(rank)
  }

  async post(topic: string, value: unknown): Promise<void> {
    this.#check(topic, value)
    if (value === null) this.#posts.delete(topic)
    else this.#posts.set(topic, value)
    await this.#pause()
  }

  /** Each is asked that its agent knows of, and answers once it knows of this one. */
  async posted(topic: string): Promise<ReadonlyMap<number, unknown>> {
    if (this.closed) throw new Error('the group is closed')
    const found = new Map<number, unknown>()
    for (const rank of [...this.#met]) {
      await this.#pause()
      const other = (): SimulatedGroup | undefined => this.#membership.groups.get(rank)
      while (!this.#ended.has(rank) && other()?.hasMet(this.rank) !== true) await this.#pause()
      const value = this.#ended.has(rank) ? undefined : other()?.posting(topic)
      if (value !== undefined) found.set(rank, value)
      await this.#pause()
    }
    return found
  }

  posting(topic: string): unknown {
    return this.#posts.get(topic)
  }

  async lock(name: string): Promise<Disposable> {
    if (this.closed) throw new Error('the group is closed')
    const lock = this.#membership.lock(name)
    await this.#pause()
    await new Promise<void>((resolve) => lock.enter(this.rank, () => this.program.tell(resolve)))
    return { [Symbol.dispose]: () => lock.leave(this.rank) }
  }

  hear(rank: number, topic: string, value: unknown): void {
    if (this.closed || this.#gone.has(rank)) return
    const listener = this.#topics.get(topic)
    if (listener !== undefined) listener(rank, value)
    else this.#kept.set(topic, [...(this.#kept.get(topic) ?? []), { rank, value }])
  }

  knows({ rank, program }: SimulatedGroup): void {
    const index = program.host.index
    this.#met.add(rank)
    this.#members.set(rank, { rank, processId: 1000 + index, host: `host-${index}` })
  }

  seesLater(type: GroupEvent['type'], other: SimulatedGroup): void {
    const { kernel } = this.program.cluster
    kernel.after(kernel.stream('views').below(VIEW_NS_MAX), () => {
      if (type === 'joined') this.#met.add(other.rank)
      else this.#ended.add(other.rank)
      this.program.tell(() => this.#sees(type, other))
    })
  }

  #sees(type: GroupEvent['type'], other: SimulatedGroup): void {
    const { rank } = other
    // It may have ended before it was seen to come.
    if (this.closed || (type === 'joined' && this.#gone.has(rank))) return
    if (type === 'joined') this.knows(other)
    else {
      this.#members.delete(rank)
      this.#gone.add(rank)
    }
    for (const listener of [...this.#listeners]) listener({ type, rank, reason: type })
  }

  #pause(): Promise<void> {
    const { kernel } = this.program.cluster
    const ns = kernel.stream('group').between(TELL_NS_MIN, TELL_NS_MAX)
    return new Promise((resolve) => kernel.after(ns, () => this.program.tell(resolve)))
  }

  /** As a group of real processes does. */
  #check(topic: string, value: unknown): void {
    if (this.closed) throw new Error('the group is closed')
    const lengthBytes = 1 + Buffer.byteLength(JSON.stringify({ op: 'tell', topic, value }))
    if (lengthBytes > MESSAGE_BYTES_MAX) throw new Error(`${lengthBytes} bytes are too many for a message`)
  }
}
