/** Entries, slots or nodes of one structure that a look reads to estimate the bytes of all. */
export const SAMPLE_MAX = 512

/** The bytes of `count` blocks, of which `seen` have `bytes` in all; undefined if there are some and none was seen. */
export function scaled(bytes: number, seen: number, count: number): number | undefined {
  if (count <= 0) return 0
  return seen === 0 ? undefined : Math.round((bytes / seen) * count)
}
