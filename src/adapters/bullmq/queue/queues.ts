import { HeaderOffset } from '../store/layout.ts'
import type { OrderedSets } from '../store/ordered-sets.ts'
import type { Store } from '../store/store.ts'
import { JOB_BYTES, QUEUE_BYTES } from './layout.ts'
import { type FoundJob, type QueueDirectory, QueueState } from './queue-state.ts'

/** The queues of a store, by qualified name: `<prefix>:<queue>`. To be used in a transaction. */
export class Queues implements QueueDirectory {
  readonly store: Store
  readonly sets: OrderedSets
  readonly #known = new Map<string, QueueState>()

  constructor(store: Store) {
    this.store = store
    const { tables } = store
    const nameOf = (job: number) => tables.key(job, JOB_BYTES)
    this.sets = store.orderedSets((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
    store.onTransaction(
      () => this.#settle(),
      () => this.#known.clear(),
    )
  }

  /** The queue; made if it is new. */
  get(qualifiedName: string): QueueState {
    return this.#find(qualifiedName) ?? this.#make(qualifiedName)
  }

  /** All of them, oldest first. */
  *all(): Generator<QueueState, undefined> {
    const { tables } = this.store
    for (let at = tables.first(HeaderOffset.Queues); at !== 0; at = tables.next(at)) {
      const name = tables.key(at, QUEUE_BYTES)
      yield this.#known.get(name) ?? this.#know(name, at)
    }
    return undefined
  }

  /** The job with this key, `<qualified name>:<id>`. Ids and prefixes may contain colons, too. */
  locate(jobKey: string): FoundJob | undefined {
    for (let colon = jobKey.indexOf(':'); colon >= 0; colon = jobKey.indexOf(':', colon + 1)) {
      const queue = this.#find(jobKey.slice(0, colon))
      const id = jobKey.slice(colon + 1)
      const job = queue?.find(id) ?? 0
      if (queue?.exists(job)) return { queue, id, job }
    }
    return undefined
  }

  #find(qualifiedName: string): QueueState | undefined {
    const known = this.#known.get(qualifiedName)
    if (known !== undefined) return known
    const at = this.store.tables.find(HeaderOffset.Queues, qualifiedName, QUEUE_BYTES)
    return at === 0 ? undefined : this.#know(qualifiedName, at)
  }

  #make(qualifiedName: string): QueueState {
    return this.#know(qualifiedName, this.store.tables.add(HeaderOffset.Queues, qualifiedName, QUEUE_BYTES))
  }

  /** A queue's entry stays as long as the store does. */
  #know(qualifiedName: string, at: number): QueueState {
    const queue = new QueueState(this, qualifiedName, at)
    this.#known.set(qualifiedName, queue)
    return queue
  }

  #settle(): void {
    for (const queue of this.#known.values()) queue.settle()
  }
}
