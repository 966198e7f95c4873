import type { Readable } from 'node:stream'

/** How a rank ended. */
export interface RankEnd {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** Why it could not be started, or how it was lost. */
  readonly error: Error | undefined
}

/** A rank as the launcher sees it: a process of its own, or one on another host. */
export interface LaunchedRank {
  readonly rank: number
  /** 0 if it could not be started, or has not been yet. */
  readonly processId: number
  /** False if it could not even be started. */
  readonly canRun: boolean
  /** Where it runs; undefined for this machine. */
  readonly host: string | undefined
  readonly stdout: Readable
  readonly stderr: Readable
  /** Let it run. */
  start(): void
  /** Resolves when the process has ended. */
  ended(): Promise<RankEnd>
  /** Resolves when all of its output has been read. */
  drained(): Promise<void>
  /** Send a signal to the rank and what it started. */
  kill(signal: NodeJS.Signals): void
}
