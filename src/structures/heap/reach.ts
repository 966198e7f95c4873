/** How to find out whether a block is part of its structure: what an intent names, and recovery asks. */
export const Reach = { Cell: 1, Map: 2, List: 3, Slot: 4 } as const

/**
 * Whether `reference` can be reached in `structure` (an offset or a reference, as its kind has it). Called inside an
 * epoch.
 */
export type ReachTest = (structure: number, reference: number) => boolean
