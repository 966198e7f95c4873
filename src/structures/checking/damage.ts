/** Why a part of a heap cannot be what it should be. It is caught in check-heap.ts, which knows of what. */
export class Damage extends Error {}

/** @throws Damage */
export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Damage(otherwise)
}

/** Whether a number is a whole one within bounds. */
export function isWhole(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most
}
