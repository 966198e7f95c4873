/** What a structure is, besides its name. Numbers are part of the layout. */
export const StructureKind = {
  counter: 1,
  flag: 2,
  sequence: 3,
  once: 4,
  mutex: 5,
  semaphore: 6,
  'rate limiter': 7,
  leader: 8,
  map: 9,
  queue: 10,
  stack: 11,
  log: 12,
  channel: 13,
  'rcu cell': 14,
  'mv-rlu': 15,
  latch: 16,
  barrier: 17,
  'read-write lock': 18,
  jobs: 19,
} as const
export type StructureKindName = keyof typeof StructureKind

/** The kind with this number; undefined if this version knows none. */
export function kindNamed(number: number): StructureKindName | undefined {
  const names = Object.keys(StructureKind) as StructureKindName[]
  return names.find((name) => StructureKind[name] === number)
}
