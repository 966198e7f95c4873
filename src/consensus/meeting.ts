import { randomInt } from 'node:crypto'
import { thisMachine } from '../cluster/index.ts'
import type { ReplicaPort } from './agent/replica-process.ts'
import { ConsensusError } from './errors.ts'
import type { ReplicaCard } from './replica/connections.ts'
import type { ReplicaSight } from './replica/replica-head.ts'
import type { RemoteRegion } from './replica/replica-link.ts'
import type { ReplicaGroup } from './replica-group.ts'

/** A replica of the group, as it says. */
export interface Met {
  readonly rank: number
  /** A replica that was begun again from its journal has the id that it had, and another one of these. */
  readonly incarnation: number
  /** The log that its journal is of; 0 while it has none, null where it keeps no journal. */
  readonly log: number | null
  /** There is a log, though its journal has nothing of it: it is not to begin a new one. */
  readonly expectsLog: boolean
  /** Where its memory is found by processes of its machine. */
  readonly sight: ReplicaSight | undefined
  /** Process numbers and descriptors of one machine mean something else on another. */
  readonly machine: string
}

/** Raised whenever the memory, the cells or the messages of replicas change. Releases before it said nothing. */
const PROTOCOL = 1

/** A replica is there. */
type Hello = Omit<Met, 'rank'> & {
  readonly type: 'hello'
  readonly protocol?: number
  readonly id: number
  readonly isAnswer: boolean
}

/** What programs tell each other about their replicas. */
type Told =
  | Hello
  /** How one incarnation is reached by another, `to`. */
  | { readonly type: 'card'; readonly from: number; readonly to: number; readonly card: Card }
  /** It is closed. */
  | { readonly type: 'bye'; readonly id: number }

/** As JSON, in which a gid is text. */
interface Card extends Omit<ReplicaCard, 'endpoint' | 'region'> {
  readonly endpoint: Omit<ReplicaCard['endpoint'], 'gid'> & { readonly gid: string }
  readonly region: RemoteRegion
}

/** Replicas of one rank are apart by this. */
const RANKS_MAX = 2 ** 20
const INCARNATION_MAX = 2 ** 48 - 1

type MeetingGroup = Pick<ReplicaGroup, 'rank' | 'closed' | 'members' | 'tell' | 'onTold' | 'onEvent'>

/** How often a process has opened each name. */
const openings = new WeakMap<MeetingGroup, Map<string, number>>()

/** A replica with a journal: the id is the journal's, and not the process's. */
export interface JournalOf {
  readonly id: number
  /** 0 if it is of no log yet. */
  readonly log: number
  readonly expectsLog?: boolean
}

/** Where the replicas of a machine find each other: by what the programs of a group tell each other. */
export class Meeting {
  /** Of this process's replica. Without a journal each opening has its own. */
  readonly id: number
  /** Someone came. */
  onMet: () => void = () => undefined
  /** Someone came who is of another log. */
  onStranger: (error: ConsensusError) => void = () => undefined
  readonly #group: MeetingGroup
  readonly #name: string
  readonly #incarnation = randomInt(1, INCARNATION_MAX)
  readonly #machine = thisMachine().space
  readonly #hasJournal: boolean
  readonly #expectsLog: boolean
  #log: number
  #sight: ReplicaSight | undefined
  /** By id, those of a rank in the order in which they came. */
  readonly #met = new Map<number, Met>()
  #stops: (() => void)[] = []

  constructor(group: MeetingGroup, name: string, journal?: JournalOf) {
    this.#group = group
    this.#name = name
    this.#hasJournal = journal !== undefined
    this.#expectsLog = journal?.expectsLog === true
    this.#log = journal?.log ?? 0
    this.id = journal?.id ?? group.rank + 1 + openingOf(group, name) * RANKS_MAX
    this.#meetSelf()
  }

  /** All that are known, this process's replica among them. */
  get met(): ReadonlyMap<number, Met> {
    return this.#met
  }

  /** This replica is of that log from now on. */
  set log(log: number) {
    this.#log = log
    this.#meetSelf()
  }

  /** Where the memories of the replicas are that can be found from this machine. */
  get sights(): readonly ReplicaSight[] {
    const own = this.#machine
    return [...this.#met.values()].flatMap(({ machine, sight }) => (machine === own && sight) || [])
  }

  /** Without a journal, an id says whose it is, even if its process ended before this one came. */
  rankOf(id: number): number | undefined {
    return this.#met.get(id)?.rank ?? (this.#hasJournal ? undefined : (id - 1) % RANKS_MAX)
  }

  idOf(rank: number): number | undefined {
    return this.#idsOf(rank).at(-1)
  }

  /** From now on others are met. `sight`: of this process's replica. */
  begin(process: ReplicaPort, sight: ReplicaSight | undefined): void {
    const group = this.#group
    this.#sight = sight
    this.#meetSelf()
    this.#stops = [
      group.onTold(this.#topic, (rank, value) => this.#hear(process, rank, value as Told)),
      group.onEvent((event) => {
        if (event.type !== 'joined') for (const id of this.#idsOf(event.rank)) process.ended(id)
      }),
    ]
    for (const { rank } of group.members()) if (rank !== group.rank) this.#tell(rank, this.#hello(false))
  }

  say(to: number, card: ReplicaCard): void {
    const { endpoint } = card
    const met = this.#met.get(to)
    if (met === undefined) return
    this.#tell(met.rank, {
      ...{ type: 'card', from: this.#incarnation, to: met.incarnation },
      card: { ...card, endpoint: { ...endpoint, gid: String(endpoint.gid) } },
    })
  }

  close(): void {
    for (const stop of this.#stops.splice(0)) stop()
    for (const rank of new Set([...this.#met.values()].map((met) => met.rank)))
      if (rank !== this.#group.rank) this.#tell(rank, { type: 'bye', id: this.id })
  }

  #meetSelf(): void {
    const { rank } = this.#group
    this.#met.set(this.id, { rank, ...this.#self })
  }

  get #self(): Omit<Met, 'rank'> {
    const [incarnation, log, expectsLog] = [this.#incarnation, this.#ownLog, this.#expectsLog]
    return { incarnation, log, expectsLog, sight: this.#sight, machine: this.#machine }
  }

  get #topic(): string {
    return `consensus/${this.#name}`
  }

  get #ownLog(): number | null {
    return this.#hasJournal ? this.#log : null
  }

  #idsOf(rank: number): number[] {
    return [...this.#met].filter(([, met]) => met.rank === rank).map(([id]) => id)
  }

  #hello(isAnswer: boolean): Told {
    return { type: 'hello', protocol: PROTOCOL, id: this.id, isAnswer, ...this.#self }
  }

  #hear(process: ReplicaPort, rank: number, told: Told): void {
    if (told.type === 'card') {
      const { endpoint, id } = told.card
      // Either may have been begun again since.
      if (told.to !== this.#incarnation || told.from !== this.#met.get(id)?.incarnation) return
      process.hear({ ...told.card, endpoint: { ...endpoint, gid: BigInt(endpoint.gid) } })
    } else if (told.type === 'bye') {
      if (this.#met.get(told.id)?.rank === rank) process.ended(told.id)
    } else {
      if (!told.isAnswer) this.#tell(rank, this.#hello(true))
      const stranger = this.#strangerIn(rank, told)
      if (stranger === undefined) this.#meet(process, rank, told)
      else this.onStranger(stranger)
    }
  }

  #meet(
    process: ReplicaPort,
    rank: number,
    { id, incarnation, log, expectsLog, sight, machine }: Omit<Met, 'rank'> & { id: number },
  ): void {
    // One that came back without a journal has lost its memory: the one before is gone.
    for (const before of this.#idsOf(rank)) if (before !== id) process.ended(before)
    const known = this.#met.get(id)
    if (known !== undefined && known.incarnation !== incarnation) process.restarted(id)
    this.#met.delete(id)
    this.#met.set(id, { rank, incarnation, log, expectsLog, sight, machine })
    process.meet({ id, life: machine === this.#machine ? sight : undefined })
    this.onMet()
  }

  /** Two logs have nothing to do with each other, and neither may be written over the other. */
  #strangerIn(rank: number, { log, protocol = 1 }: Hello): ConsensusError | undefined {
    const own = this.#ownLog
    if (protocol !== PROTOCOL) return this.#ofAnotherRelease(rank, protocol)
    if (log === own || (log === 0 && own !== null) || (own === 0 && log !== null)) return undefined
    const what =
      log === null || own === null
        ? `one of this process and rank ${rank} has opened '${this.#name}' with a directory, and the other without one; let all have one, or none`
        : `the directory of this process holds another log than that of rank ${rank}; pass the directory of this log, or an empty one`
    return new ConsensusError('STRANGER', what)
  }

  #ofAnotherRelease(rank: number, protocol: number): ConsensusError {
    const what = `rank ${rank} keeps '${this.#name}' by protocol ${protocol}, and this process by protocol ${PROTOCOL}`
    return new ConsensusError('STRANGER', `${what}; install the same release of Aether everywhere`)
  }

  /** A rank that is gone hears nothing. */
  #tell(rank: number, told: Told): void {
    if (!this.#group.closed) this.#group.tell(rank, this.#topic, told).catch(() => {})
  }
}

function openingOf(group: MeetingGroup, name: string): number {
  const counts = openings.get(group) ?? new Map<string, number>()
  openings.set(group, counts)
  const count = counts.get(name) ?? 0
  counts.set(name, count + 1)
  return count
}
