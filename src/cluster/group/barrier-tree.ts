/**
 * How many ranks report to one. Rounds grow with the logarithm of the ranks, up and then down: 2 for 9 ranks, 6 for
 * 585, 8 for 1,024. The cost of a round is waking an agent, not reading eight short messages instead of two. So the
 * tree is broad.
 */
const BARRIER_FAN_IN = 8

/** The tree along which barriers are counted: ranks are numbered as in a heap, with rank 0 at the root. */
export class BarrierTree {
  /** Undefined at the root. */
  readonly parent: number | undefined
  readonly children: readonly number[]

  constructor(rank: number, size: number) {
    this.parent = rank === 0 ? undefined : Math.floor((rank - 1) / BARRIER_FAN_IN)
    const first = BARRIER_FAN_IN * rank + 1
    const count = Math.max(0, Math.min(BARRIER_FAN_IN, size - first))
    this.children = Array.from({ length: count }, (_, index) => first + index)
  }
}
