import type { CollectiveCall } from '../../collectives/index.ts'
import type { PeerGroup, ShrinkOptions, VerbsLink } from '../../messaging/index.ts'
import { UnsupportedError } from '../../native/index.ts'
import type { Agent } from '../../runtime/index.ts'
import type { MembershipView } from './membership-machine.ts'

/** A message of a rank's program. */
export interface RankMessage {
  readonly rank: number
  readonly bytes: Uint8Array
}

/** What the programs need of their group. */
export interface ProgramsHost {
  readonly rank: number
  readonly size: number
  /**
   * In a group that grows: the view whose members were in the last barrier, and carry out collectives together. `none`
   * before the first.
   */
  readonly view?: MembershipView | 'none'
  readonly device: string
  readonly agent: Agent
  /** The longest packet to a rank, in bytes; undefined if that does not apply. */
  pathMtu(rank: number): number | undefined
  /** Whether this rank waits in a barrier that `rank` has not entered. It takes two calls to find out. */
  isMissingFromBarrier(rank: number): boolean
}

/** What the programs of the ranks do together, beside their agents: see `src/ranks/`. */
export interface RankPrograms {
  /** Why collectives of all ranks are over; undefined while they are not. */
  readonly failure: Error | undefined
  carryOut<T>(call: CollectiveCall<T>): Promise<T>
  carryOutSync<T>(call: CollectiveCall<T>): T
  shrink(options: ShrinkOptions): Promise<PeerGroup>
  shrinkSync(options: ShrinkOptions): PeerGroup
  send(rank: number, bytes: Uint8Array): Promise<void>
  messages(options?: { readonly signal?: AbortSignal }): AsyncGenerator<RankMessage, void, undefined>
  /** The connection to a rank; undefined while there is none. */
  link(rank: number): VerbsLink | undefined
  /** The agent has something for them. */
  fetch(): Promise<void>
  /** Collectives are among the members of another view from now on. */
  regroup(view: MembershipView): void
  /** A rank is out of the group. */
  ended(rank: number, how: 'left' | 'died'): void
  /** Called now and then in a barrier, so that others who are in a collective find out. */
  lookFromBarrier(blocking: boolean): void
  close(): Promise<void>
}

type Maker = (host: ProgramsHost) => RankPrograms

let load: () => Maker = () => {
  throw new UnsupportedError('collectives and messages of ranks are not in this build')
}

/** Many programs share memory only. So the room is loaded with the first call, which may be one that blocks. */
export function provideRankPrograms(loader: () => Maker): void {
  load = loader
}

export const makeRankPrograms: Maker = (host) => load()(host)
