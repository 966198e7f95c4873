/**
 * What may be done with registered memory and through a queue pair; the bits of `enum ibv_access_flags`
 * (ibv_reg_mr(3)). Local read is always allowed. RemoteWrite and RemoteAtomic need LocalWrite.
 */
export const Access = {
  LocalWrite: 1,
  RemoteWrite: 2,
  RemoteRead: 4,
  RemoteAtomic: 8,
  MemoryWindowBind: 16,
  ZeroBased: 32,
  OnDemand: 64,
  HugePages: 128,
  RelaxedOrdering: 0x100000,
} as const

/** Every right of a remote peer. */
export const RemoteAccess: number = Access.RemoteWrite | Access.RemoteRead | Access.RemoteAtomic

/** `LocalWrite|RemoteRead`, for messages. */
export function describeAccess(access: number): string {
  const names = Object.entries(Access)
    .filter(([, bit]) => (access & bit) !== 0)
    .map(([name]) => name)
  return names.length === 0 ? 'none' : names.join('|')
}
