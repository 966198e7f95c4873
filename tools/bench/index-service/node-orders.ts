import type { FailOver } from 'aether-dsm/consensus'

/** What a node's process is started with. */
export interface NodePlan {
  /** Of the group, which is another one whenever all nodes begin again. */
  readonly group: string
  /** Of the index. */
  readonly name: string
  readonly replicas: number
  readonly memoryBytes: number
  /** Where it keeps its log; undefined: in memory. */
  readonly directory: string | undefined
  /** It takes clients of Redis. */
  readonly hasDoor: boolean
}

/** What it is told. */
export interface ToIndexNode {
  readonly kind: 'status' | 'close'
}

/** What a node knows of itself and the others. */
export interface NodeStatus {
  readonly kind: 'status'
  /** Rank of the one that leads. */
  readonly leader: number | undefined
  readonly failOver: FailOver | undefined
  readonly keys: number
  /** Shared memory that it holds for keys and values. */
  readonly heldBytes: number
  /** Of its process, shared memory that it has touched included. */
  readonly rssBytes: number
}

/** Where clients of Redis come, by what takes them. */
export interface DoorPorts {
  readonly native: number
  readonly node: number
}

/** What it says. */
export type FromIndexNode =
  /** Times are those of the clock that all processes of a machine have. */
  | {
      readonly kind: 'opened'
      readonly rank: number
      readonly joinedNs: number
      readonly openedNs: number
      readonly doorPorts: DoorPorts | undefined
    }
  | NodeStatus
  | { readonly kind: 'closed' }
  | { readonly kind: 'failed'; readonly why: string }
