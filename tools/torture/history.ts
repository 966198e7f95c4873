import type { Stamp } from './page-stamp.ts'

/** `write` looks at the page and leaves its next version, alone with it; `release` gives a rank's copy up. */
export type TortureAccessKind = 'read' | 'write' | 'release'

/**
 * How an access ended. `lost`: the page was reported as lost. `torn`: its bytes do not belong together. `failed`:
 * another error. `doubt`: the process died during the access, or may have been out of its group, so it may have taken
 * place or not.
 */
export type TortureOutcome = 'done' | 'lost' | 'torn' | 'failed' | 'doubt'

/** What one process did with one page. Times are microseconds of one clock for all processes. */
export interface TortureAccess {
  readonly rank: number
  readonly kind: TortureAccessKind
  readonly page: number
  readonly beganUs: number
  /** Infinity where it is in doubt. */
  readonly endedUs: number
  readonly outcome: TortureOutcome
  /** What it found; undefined where it did not get so far. */
  readonly seen: Stamp | undefined
  /** Of `torn` and `failed`: what was wrong. */
  readonly text: string | undefined
}

/** Everything that is known of the life of a group. */
export interface TortureHistory {
  readonly accesses: readonly TortureAccess[]
  /** Ranks that have died and when at the earliest, in microseconds. -Infinity where that is not known. */
  readonly deaths: ReadonlyMap<number, number>
  /** The home of a page while all live. */
  readonly homeOf: (page: number) => number
}

/** The version that a write leaves; undefined where it has left none. */
export function leftBy({ kind, rank, seen, outcome }: TortureAccess): Stamp | undefined {
  const wrote = kind === 'write' && seen !== undefined && (outcome === 'done' || outcome === 'doubt')
  return wrote ? { version: seen.version + 1, writer: rank } : undefined
}
