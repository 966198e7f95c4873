import { Access, RemoteAccess } from '../access.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { MemoryWindowType } from '../memory-contract.ts'

/** The key with its low eight bits replaced: those of a memory window change with every bind. */
export function retag(key: number, tag: number): number {
  return ((key & 0xffffff00) | (tag & 0xff)) >>> 0
}

/** Refuse a type that does not exist. */
export function checkWindowType(type: number): void {
  if (type !== 1 && type !== 2)
    throw new VerbsError('ibv_alloc_mw', Errno.EINVAL, `a memory window is of type 1 or 2, not ${type}`)
}

/** What the rules need to know of the region that a window shows part of. */
interface BindableMemory {
  readonly domain: { readonly id: number }
  readonly isZeroBased: boolean
  readonly access: number
  readonly address: number
  readonly length: number
}

/** What a window is to show; without memory it shows nothing. */
export interface WantedView {
  readonly memory: BindableMemory | undefined
  readonly address: number
  readonly length: number
  readonly access: number
}

const WINDOW_ACCESS = RemoteAccess | Access.ZeroBased

/**
 * True if a window of the protection domain may show that, by the rules of rxe_mw.c, which cites the specification's.
 */
export function allowsWindow(type: MemoryWindowType, isBound: boolean, domainId: number, view: WantedView): boolean {
  const { memory, address, length, access } = view
  if ((access & ~WINDOW_ACCESS) !== 0) return false
  if (type === 1 && (access & Access.ZeroBased) !== 0) return false
  if (type === 2 && (memory === undefined || isBound)) return false
  if (memory === undefined) return true
  if (memory.domain.id !== domainId || memory.isZeroBased) return false
  if ((memory.access & Access.MemoryWindowBind) === 0) return false
  const writes = (access & (Access.RemoteWrite | Access.RemoteAtomic)) !== 0
  if (writes && (memory.access & Access.LocalWrite) === 0) return false
  return address >= memory.address && address + length <= memory.address + memory.length
}
