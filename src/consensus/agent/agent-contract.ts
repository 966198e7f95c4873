import type { MessagePort } from 'node:worker_threads'
import type { ProcessLife } from '../../runtime/index.ts'
import type { Configuration } from '../replica/configuration.ts'
import type { ReplicaCard } from '../replica/connections.ts'
import type { FailOver } from '../replica/fail-over.ts'
import type { Recovered } from '../replica/journal.ts'
import type { Protocol } from '../replica/rights.ts'
import type { ReplicaSettings } from '../replica/settings.ts'

/** What the replica's thread is started with. */
export interface ReplicaAgentData {
  readonly device: string
  readonly id: number
  readonly settings: ReplicaSettings
  readonly protocol: Protocol
  readonly founding: Configuration | undefined
  readonly votersWanted: number
  /** Where its journal is written, and what it held. */
  readonly journal: OpenJournal | undefined
  /** Rings of records: to the agent, and to the program. */
  readonly toAgent: SharedArrayBuffer
  readonly toProgram: SharedArrayBuffer
  /** The write end of the pipe that wakes the program. */
  readonly bell: number
  /** How long the replica looks for more after it was asked for something; then as long as that pays. */
  readonly spinNs: number
  /** A program that takes nothing for this long, though there is something, is not to lead. */
  readonly programNsMax: number
}

/** A journal, as it is handed to the replica's thread. */
interface OpenJournal {
  readonly port: MessagePort
  /** The read end of the pipe that says that there is something on the port. */
  readonly bell: number
  readonly recovered: Recovered
}

/** Records from the program. */
export const Demand = {
  /** Records for the log. */
  Propose: 1,
  /** Token f64: from which entry on may be read. */
  AskIndex: 2,
  /** Number f64 of a check, hash f64. It wakes no one. */
  Checked: 3,
} as const

/** Records to the program. */
export const News = {
  /** Index f64, time f64, term u32, flags u32, payload. */
  Entry: 1,
  ProposeAgain: 2,
  /** Token f64, index f64, or -1 for: ask again. */
  Readable: 3,
  SnapshotWanted: 4,
  /** Number f64 of the note that has the bytes. Nothing behind it counts before they are restored. */
  Restore: 5,
  /** The machine is not what the others' are. */
  Deviates: 6,
} as const

export const ENTRY_HEAD_BYTES = 24

/** A snapshot that was fetched, and who led when it was taken. */
export interface SnapshotBytes {
  readonly index: number
  readonly term: number
  readonly leader: number
  readonly configuration: Configuration
  readonly bytes: Uint8Array
}

/** A replica that is there. */
export interface MetReplica {
  readonly id: number
  /** Of its process; undefined if that is on another machine. */
  readonly life: ProcessLife | undefined
}

/** What the agent tells the program by notes. */
export type AgentNote =
  | { readonly type: 'say'; readonly to: number; readonly card: ReplicaCard }
  | ({ readonly type: 'restore'; readonly number: number } & SnapshotBytes)

/** What the agent says about itself. */
export interface ReplicaStatus {
  readonly id: number
  readonly term: number
  readonly leader: number | undefined
  readonly isLeader: boolean
  /** The last entry that is decided and here. */
  readonly decided: number
  /** Entries up to this one are in its journal; undefined where it has none. */
  readonly durable: number | undefined
  readonly configuration: Configuration | undefined
  /** As the leader sees it: how far each replica is behind, in entries. */
  readonly lags: readonly { readonly id: number; readonly entries: number }[]
  /** Replicas whose machines were found not to be deterministic. */
  readonly deviating: readonly number[]
  readonly isByRights: boolean
  /** How it came to lead; undefined if it never did. */
  readonly lastFailOver: FailOver | undefined
}
