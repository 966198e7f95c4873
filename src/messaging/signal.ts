/**
 * The meaning of an immediate. Without the highest bit it is a number of units: bytes that have come into the ring.
 * With it:
 *
 * ```
 * 31 one | 24..30 which signal | 16..23 zero | 0..15 its argument
 * ```
 */
export const Signal = {
  /** The sender waits for room. The argument is 1 if it lacks receives, 0 if it lacks bytes. */
  Want: 1,
  /** There is room again. */
  Wake: 2,
  /** No more messages follow. */
  Close: 3,
  /** Give back the receives beyond the argument. */
  Recall: 4,
  /** The answer; its argument is the number given back. */
  Return: 5,
} as const

export type Signal = (typeof Signal)[keyof typeof Signal]

const SIGNAL_BIT = 0x80000000
const KIND_SHIFT = 24
const KIND_MASK = 0x7f
const ZERO_MASK = 0x00ff0000
const ARGUMENT_MASK = 0xffff

export const SIGNAL_ARGUMENT_MAX: number = ARGUMENT_MASK

export function signalImmediate(signal: Signal, argument = 0): number {
  return (SIGNAL_BIT | (signal << KIND_SHIFT) | argument) >>> 0
}

export function isSignal(immediate: number): boolean {
  return immediate >= SIGNAL_BIT
}

/** The signal of an immediate, or undefined if no end of this version sends it. */
export function signalOf(immediate: number): Signal | undefined {
  const kind = (immediate >>> KIND_SHIFT) & KIND_MASK
  return kind >= Signal.Want && kind <= Signal.Return && (immediate & ZERO_MASK) === 0 ? (kind as Signal) : undefined
}

export function argumentOf(immediate: number): number {
  return immediate & ARGUMENT_MASK
}
