/**
 * The word of a slot: an acceptor's state for one entry, which one compare-and-swap changes. As in Velos (Guerraoui,
 * Murat and Xygkis, "Velos: One-sided Paxos for RDMA applications", 2021):
 *
 * ```
 * 63 … 32 the term that was promised | 31 … 12 lap | 11 … 4 frame + 1, 0 for none | 3 … 0 bank
 * ```
 *
 * The lap says which entry the slot is for: entry `i` has lap `i / window`. Frame and bank say where on this acceptor
 * the accepted value lies; its cell holds the term in which it was accepted.
 */
export interface SlotState {
  readonly promised: number
  readonly lap: number
  /** -1 if nothing was accepted. */
  readonly frame: number
  readonly bank: number
}

const LAPS = 1 << 20

/** A word, and its halves: arithmetic on a BigInt takes longer. */
const whole = new BigUint64Array(1)
const halves = new Uint32Array(whole.buffer)

export function packWord(promised: number, lap: number, frame = -1, bank = 0): bigint {
  halves[0] = ((lap % LAPS) << 12) | ((frame + 1) << 4) | bank
  halves[1] = promised
  return whole[0]!
}

export function unpackWord(word: bigint): SlotState {
  whole[0] = word
  const low = halves[0]!
  return { promised: halves[1]!, lap: low >>> 12, frame: ((low >>> 4) & 0xff) - 1, bank: low & 0xf }
}

/** Whether the slot is for the entries of this lap. */
export function isOfLap({ lap }: SlotState, wanted: number): boolean {
  return lap === wanted % LAPS
}

/** Whether the slot is for an entry of a later lap. Laps are compared on a circle. A fresh slot has none. */
export function isOfLaterLap({ promised, lap }: SlotState, than: number): boolean {
  const distance = (lap - (than % LAPS) + LAPS) % LAPS
  return promised > 0 && distance > 0 && distance < LAPS / 2
}

/** Entries are numbered from 1 on; a fresh slot is of lap 0 for those below `window`. */
export function lapOf(index: number, window: number): number {
  return Math.floor(index / window)
}
