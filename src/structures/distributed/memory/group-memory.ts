import type { Command } from './command.ts'

/** The most commands of a batch. */
export const BATCH_MAX = 32

/**
 * The memory in which the ranks of a group keep structures, a part at each rank, as one rank reaches it. It uses
 * one-sided verbs, also for its own part. It is the one seam of everything in this folder. What a structure does that
 * others can see it does by {@link run}.
 *
 * It returns promises, because every call is a round trip. The simulator and the tests have seams of their own, in
 * which the same sources run.
 */
export interface GroupMemory {
  /** This rank. */
  readonly rank: number
  /** How many there are. */
  readonly ranks: number
  /** Bytes at each. */
  readonly lengthBytes: number
  /** Batches that were posted: the round trips so far. */
  readonly roundTrips: number
  /**
   * Carry out a batch on the memory of rank `home`: one post, one wait; the results are in the commands. `what` is
   * named in errors.
   * @throws HomeLostError in bounded time, when the home is out of the group or does not answer. What was under way may
   * have been done.
   */
  run(home: number, what: string, batch: readonly Command[]): Promise<void>
  /**
   * Store a word of this rank's own part, which no other rank writes to: at once, without a round trip. Any {@link run}
   * that begins afterwards is carried out when others can see it.
   */
  storeOwn(offset: number, value: bigint): void
  /**
   * What is in a word of this rank's own part, at once. Looked at after {@link storeOwn}, it is what others saw to it
   * before they saw that.
   */
  loadOwn(offset: number): bigint
  /** Whether `rank` is in the group still. Once out, it never comes back. */
  isMember(rank: number): boolean
  /** Milliseconds of a clock that all ranks have, more or less: see rate-limiter.ts for what hangs on it. */
  nowMs(): number
  /** Resolves after a while, or earlier when a rank has ended or `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * Tell `rank`, another one, that what it waits for at `place` of rank `home` has changed. It is a message without an
   * answer, which is lost if the rank is gone. A slow or stopped rank never delays it.
   */
  ring(rank: number, home: number, place: number): void
  /** Have `listener` called when this rank is told so. */
  onRing(listener: (home: number, place: number) => void): void
  /** Between 0 and 1, for back-off. */
  random(): number
}
