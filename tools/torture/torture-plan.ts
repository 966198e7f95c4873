/**
 * Where the ranks are. `machine`: all on one machine. `hosts`: each as if on its own host, which the others reach over
 * TCP; all of them are on this machine.
 */
export type TorturePlace = 'machine' | 'hosts'
export const torturePlaces: readonly TorturePlace[] = ['machine', 'hosts']

/** What the processes of a group are started with, beside the environment of their rank. */
export interface TorturePlan {
  /** Name of a coherence protocol. */
  readonly coherence: string
  readonly pages: number
  readonly pageSize: number
  readonly seed: number
  /** A rank that is silent for so long is out, in milliseconds. */
  readonly leaseMs: number
  /** Folder of the logs; that of a rank is named by its number. */
  readonly logs: string
  /** Module that exports `openMemory`. */
  readonly memoryUrl: string
}

/** Pages are dealt out to their homes in turn. */
export function homeOfTorture(page: number, ranks: number): number {
  return page % ranks
}

/** What a rank is told. */
export type TortureOrder = 'stop'

/** What a rank says: it is in the group; it has looked at all pages for the last time. */
export type TortureReply = 'ready' | 'done'
