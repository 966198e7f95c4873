/**
 * What a slab is, in one word: kind in bits 0-2, and in 3-10 the slot of the member that works on it. From bit 11 on it
 * has what the kind needs.
 *
 * ```
 *            compare-and-swap          made ready
 *   Free ─────────────────────► Claimed ─────────► Sized (blocks of one size)
 *     ▲                            │                  │ all blocks free, memory is short
 *     │                            │                  ▼
 *     │◄───────────────────────────┼──────────────  Closing
 *     │                            └────► Head, Tail, Tail … (one block over several slabs)
 *     └── Claimed ◄──────────────────────── freed
 *
 *             memory is given back
 *   Free ──► Bare ────────────────► Hole
 *     ▲   memory is taken            │
 *     └────────────────────── Bare ◄─┘
 * ```
 *
 * Claimed, Closing and Bare name the member at work. If it dies, the member that recovers it turns them back: a Bare
 * slab, which may or may not have memory, becomes a hole.
 */
export const SlabKind = { Free: 0, Claimed: 1, Sized: 2, Head: 3, Tail: 4, Closing: 5, Hole: 6, Bare: 7 } as const

/** `detail`: Sized, Closing: size class; Head: number of slabs; Tail: index of the head's slab. At most 2^17. */
export function slabWord(kind: number, slot: number, detail: number): number {
  return (detail << 11) | (slot << 3) | kind
}

export function slabKind(word: number): number {
  return word & 7
}

export function slabSlot(word: number): number {
  return (word >>> 3) & 0xff
}

export function slabDetail(word: number): number {
  return word >>> 11
}
