import { defaultSettings, type ReplicaSettings } from 'aether-dsm/internal/consensus'
import { IndexNode, type NodeHost, type OpenReadLine } from 'aether-dsm/internal/index-service'
import { ViolationError } from '../observer.ts'
import type { MoveStep } from './shards-plan.ts'
import type { SimulatedGroup } from './simulated-group.ts'
import type { SimulatedLines } from './simulated-lines.ts'
import type { SimulatedProgram } from './simulated-program.ts'
import type { SimulatedReads } from './simulated-reads.ts'
import { SimulatedReplicaProcess } from './simulated-replica-process.ts'

/** Small rings and histories, so that a run meets snapshots. */
const settings: ReplicaSettings = {
  ...defaultSettings,
  ...{ window: 32, frames: 8, historyBytes: 4096, tickNs: 10_000_000, silentTicks: 20 },
}

export const INDEX = 'simulated'
/** Replicas of a rank are apart by this, as in `Meeting`. */
const RANKS_MAX = 2 ** 20
const MEMORY_BYTES = 64 * 2 ** 20
/** Longer than a run. */
const PATIENCE_MS = 300_000

export interface SimulatedNodeOptions {
  readonly program: SimulatedProgram
  readonly group: SimulatedGroup
  readonly lines: SimulatedLines
  readonly shards: number
  readonly replicas: number
  /** Where it keeps its logs. */
  readonly directory: string | undefined
  /** Clients and other nodes READ its memory. */
  readonly reads: SimulatedReads | undefined
  readonly onStep: (node: SimulatedNode, step: MoveStep) => void
  readonly onFailure: (error: unknown) => void
}

/** A process with a node of an index, by the classes of production. */
export class SimulatedNode {
  readonly program: SimulatedProgram
  readonly group: SimulatedGroup
  /** Undefined until it is open. */
  node: IndexNode | undefined
  /** It was told to close. */
  isLeaving = false
  readonly #options: SimulatedNodeOptions
  readonly #replicas: SimulatedReplicaProcess[] = []
  /** The replica that it has of each shard, or had last. */
  readonly #ofShards = new Map<number, SimulatedReplicaProcess>()

  constructor(options: SimulatedNodeOptions) {
    this.program = options.program
    this.group = options.group
    this.#options = options
    this.program.run(() => {
      this.#open().catch((error: unknown) => {
        if (!this.isLeaving) options.onFailure(error)
      })
    })
  }

  get rank(): number {
    return this.group.rank
  }

  get directory(): string | undefined {
    return this.#options.directory
  }

  /** Those of its replicas, of all that it has opened. */
  get ids(): readonly number[] {
    return this.#replicas.map(({ id }) => id)
  }

  /** The ids of those that vote, as each of its replicas knows. */
  get voters(): readonly (readonly number[])[] {
    return this.#replicas.flatMap(({ voters }) => (voters === undefined ? [] : [voters]))
  }

  /** It leaves for good; `done` once that is so. */
  close(done: () => void): void {
    this.isLeaving = true
    this.program.run(() => {
      const closed = this.node?.close() ?? Promise.resolve()
      closed
        .catch((error: unknown) => this.#options.onFailure(error))
        .finally(() => {
          this.group.closed = true
          done()
        })
    })
  }

  /** What its process had is taken away. */
  release(): void {
    for (const replica of this.#replicas) void replica.close()
    for (const journal of this.program.journals) journal.release()
  }

  async #open(): Promise<void> {
    const { shards, replicas, directory } = this.#options
    this.node = await IndexNode.open(
      this.group,
      {
        name: INDEX,
        shards,
        replicas,
        directory,
        append: 'always',
        memoryBytes: MEMORY_BYTES,
        eviction: { policy: 'noeviction', samples: 5, boundBytes: undefined },
        listen: undefined,
        inFlightMax: 1024,
        thread: 'own',
        spinMs: 0,
        slowerThanUs: -1,
        timeoutMs: PATIENCE_MS,
        signal: undefined,
        onEvent: undefined,
      },
      this.#host,
    )
  }

  get #host(): NodeHost {
    const { lines, program, reads } = this.#options
    return {
      machine: `host-${program.host.index}`,
      serve: async (served) => lines.serve(program, served),
      show: () => () => undefined,
      connect: lines.connectorOf(program),
      openReads: reads?.openerOf(program) ?? openNothing,
      listenForReads: async () => reads?.listen(program, (shard) => this.#ofShards.get(shard)),
      startReplica: async (options, shard) => {
        this.#options.onStep(this, 'start')
        const replica = new SimulatedReplicaProcess(program, { ...options, settings })
        replica.onCommand = (name) => {
          if (name === 'leave' || name === 'transfer') this.#options.onStep(this, name)
        }
        replica.onEnded = (id) => {
          const rank = (id - 1) % RANKS_MAX
          const { group } = this
          // An id of a journal does not say whose it is.
          if (this.directory === undefined && !group.isMember(rank) && !group.isGone(rank))
            this.#options.onFailure(
              new ViolationError(`ended: to node ${this.rank} node ${rank} is gone, which has just come`),
            )
        }
        this.#replicas.push(replica)
        this.#ofShards.set(shard, replica)
        return replica
      },
    }
  }
}

/** Without READs clients ask. */
export const openNothing: OpenReadLine = () => Promise.reject(new Error('nothing can be READ'))
