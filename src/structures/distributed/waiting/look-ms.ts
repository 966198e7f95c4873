import type { GroupMemory } from '../memory/group-memory.ts'

/** From one look to the next of a waiter that is told nothing, in milliseconds: at first, and at most. */
const LOOK_MS_MIN = 100
const LOOK_MS_MAX = 1000

/**
 * How long to sleep after `looks` looks that found nothing. It is partly random, so that waiters for one thing do not
 * look all at once.
 */
export function lookMs(group: GroupMemory, looks: number, lookMsMax: number = LOOK_MS_MAX): number {
  const atMost = Math.min(LOOK_MS_MAX, lookMsMax, LOOK_MS_MIN * 2 ** Math.min(looks, 10))
  return atMost * (0.5 + group.random() / 2)
}
