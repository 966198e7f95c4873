import type { Group } from '../cluster/index.ts'
import type { ReplicaProcess } from './agent/replica-process.ts'
import type { ReplicaCard } from './replica/connections.ts'
import type { RemoteRegion } from './replica/replica-link.ts'

/** What programs tell each other about their replicas. */
type Told =
  /** A replica is there. */
  | { readonly type: 'hello'; readonly id: number; readonly isAnswer: boolean }
  /** How it is reached by the replica `to`. */
  | { readonly type: 'card'; readonly to: number; readonly card: Card }
  /** It is closed. */
  | { readonly type: 'bye'; readonly id: number }

/** As JSON, in which a gid is text. */
interface Card extends Omit<ReplicaCard, 'endpoint' | 'region'> {
  readonly endpoint: Omit<ReplicaCard['endpoint'], 'gid'> & { readonly gid: string }
  readonly region: RemoteRegion
}

/** Replicas of one rank are apart by this. */
const RANKS_MAX = 2 ** 20

/** How often a process has opened each name. */
const openings = new WeakMap<Group, Map<string, number>>()

/** Where the replicas of a machine find each other: by what the programs of a group tell each other. */
export class Meeting {
  /** Of this process's replica. Each opening has its own. */
  readonly id: number
  readonly #group: Group
  readonly #topic: string
  /** The replicas of each rank, the newest last. */
  readonly #ids = new Map<number, number[]>()
  #stops: (() => void)[] = []

  constructor(group: Group, name: string) {
    const opening = openingOf(group, name)
    this.#group = group
    this.#topic = `consensus/${name}`
    this.id = group.rank + 1 + opening * RANKS_MAX
    this.#ids.set(group.rank, [this.id])
  }

  static rankOf(id: number): number {
    return (id - 1) % RANKS_MAX
  }

  idOf(rank: number): number | undefined {
    return this.#ids.get(rank)?.at(-1)
  }

  /** From now on others are met. */
  begin(process: ReplicaProcess): void {
    const group = this.#group
    this.#stops = [
      group.onTold(this.#topic, (rank, value) => this.#hear(process, rank, value as Told)),
      group.onEvent((event) => {
        if (event.type !== 'joined') for (const id of this.#ids.get(event.rank) ?? []) process.ended(id)
      }),
    ]
    for (const { rank } of group.members())
      if (rank !== group.rank) this.#tell(rank, { type: 'hello', id: this.id, isAnswer: false })
  }

  say(to: number, card: ReplicaCard): void {
    const { endpoint } = card
    this.#tell(Meeting.rankOf(to), {
      type: 'card',
      to,
      card: { ...card, endpoint: { ...endpoint, gid: String(endpoint.gid) } },
    })
  }

  close(): void {
    for (const stop of this.#stops.splice(0)) stop()
    for (const rank of this.#ids.keys()) if (rank !== this.#group.rank) this.#tell(rank, { type: 'bye', id: this.id })
  }

  #hear(process: ReplicaProcess, rank: number, told: Told): void {
    if (told.type === 'card') {
      // It may be for the replica that this process had before.
      if (told.to !== this.id) return
      const { endpoint } = told.card
      process.hear({ ...told.card, endpoint: { ...endpoint, gid: BigInt(endpoint.gid) } })
    } else if (told.type === 'bye') process.ended(told.id)
    else {
      const ids = this.#ids.get(rank) ?? []
      this.#ids.set(rank, ids)
      // One that came back has lost its memory: the one before is gone.
      for (const id of ids) if (id !== told.id) process.ended(id)
      if (!ids.includes(told.id)) ids.push(told.id)
      if (!told.isAnswer) this.#tell(rank, { type: 'hello', id: this.id, isAnswer: true })
      process.meet(told.id)
    }
  }

  /** A rank that is gone hears nothing. */
  #tell(rank: number, told: Told): void {
    if (!this.#group.closed) this.#group.tell(rank, this.#topic, told).catch(() => {})
  }
}

function openingOf(group: Group, name: string): number {
  const counts = openings.get(group) ?? new Map<string, number>()
  openings.set(group, counts)
  const count = counts.get(name) ?? 0
  counts.set(name, count + 1)
  return count
}
