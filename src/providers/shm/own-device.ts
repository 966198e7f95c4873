import type { DescriptorWatch } from '../descriptor-watch.ts'
import type { Gid } from '../gid.ts'
import type { SoftAsyncEvents } from '../soft/async-events.ts'
import type { Segment } from './segment.ts'
import type { SharedKeyTable } from './shared-key-table.ts'
import type { Visitors } from './visitors.ts'

/** What the device retries: a queue pair with waiting requests, or a shared receive queue with an unfinished claim. */
export interface Waiting {
  /** Returns true if nothing is left to wait for. */
  progress(now: number): boolean
}

/** This device, as all its parts know it. */
export interface OwnDevice {
  readonly gid: Gid
  readonly segment: Segment
  readonly keys: SharedKeyTable
  readonly events: SoftAsyncEvents
  readonly visitors: Visitors
  readonly watch: DescriptorWatch
  /** How many parts wait for something; every poll reads it. */
  readonly pendingCount: number
  progress(): void
  addPending(waiting: Waiting): void
  removePending(waiting: Waiting): void
}
