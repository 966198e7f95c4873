import { mustBe } from '../native/index.ts'

/**
 * How copies of a region are kept the same.
 * - `hardware`: all members share one machine and one memory object; the processor's caches do the work.
 * - `mesi`, `moesi`, `directory`, `token`: each rank has memory of its own; a page's home hands it around (one writer
 *   or many readers).
 *
 * The four protocols differ:
 * - `mesi`: home orders everything and has the bytes of shared pages.
 * - `moesi`: the writer serves its readers; home is written when the writer evicts the page.
 * - `directory`: home does not wait for the ranks that it has served, which takes the fewest messages.
 * - `token`: rights are counted in tokens, and home only has hints.
 */
export type CoherenceKind = 'hardware' | 'mesi' | 'moesi' | 'directory' | 'token'

/** What `auto` selects if members have memory of their own. */
export const AUTOMATIC_PROTOCOL: CoherenceKind = 'directory'

/** A kind, or `auto`: `hardware` if all members share one machine, else `directory`. */
export type Coherence = CoherenceKind | 'auto'

/** The kinds with the number that stands for them in shared memory. A number is never given to another kind. */
export const COHERENCE_NUMBERS: Readonly<Record<CoherenceKind, number>> = {
  hardware: 1,
  mesi: 2,
  moesi: 3,
  directory: 4,
  token: 5,
}

/** Every kind that a region may have. */
export const coherenceKinds: readonly CoherenceKind[] = Object.keys(COHERENCE_NUMBERS) as CoherenceKind[]

/** @throws ArgumentError naming the kinds if `value` is not one of them. */
export function checkCoherence(value: unknown): Coherence {
  const known = ['auto', ...Object.keys(COHERENCE_NUMBERS)]
  if (typeof value === 'string' && known.includes(value)) return value as Coherence
  throw mustBe('coherence', `one of ${known.join(', ')}`, value)
}

/** The kind behind a number read from shared memory, or undefined for one of a later version. */
export function coherenceOf(number: number): CoherenceKind | undefined {
  return (Object.keys(COHERENCE_NUMBERS) as CoherenceKind[]).find((kind) => COHERENCE_NUMBERS[kind] === number)
}
