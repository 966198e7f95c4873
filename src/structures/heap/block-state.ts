/**
 * The state word of a block: the one truth about it.
 *
 * ```
 *   bits 0-1  kind      2-9  slot of the member that set this state      10-31  generation, raised at each allocation
 *
 *          allocate           unlinked                       grace period over
 *   Free ───────────► Live ────────────────────────► Retired ─────────────────► Free
 *    └──► Closed: its slab is being given back or is another's ──► Free
 * ```
 *
 * Every transition is a compare-and-swap of the exact word. So if several members believe that they have to free a
 * block, one of them does. A reference that was kept for too long is known by its generation.
 */
export const BlockKind = { Free: 0, Live: 1, Retired: 2, Closed: 3 } as const

export function blockState(kind: number, slot: number, generation: number): number {
  return (generation << 10) | (slot << 2) | kind
}

export function kindOf(state: number): number {
  return state & 3
}

export function slotOf(state: number): number {
  return (state >>> 2) & 0xff
}

export function generationOf(state: number): number {
  return state >>> 10
}
