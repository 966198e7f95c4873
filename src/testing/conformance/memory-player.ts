import type { MemoryWindowType } from '../../verbs/index.ts'
import type { Handle, MemoryFacts, SegmentSpecification } from './player-data.ts'

export interface WindowFacts {
  readonly handle: Handle
  readonly remoteKey: number
}

export interface BindSpecification {
  readonly id: number
  readonly window: Handle
  /** Without it, the window is bound to nothing. */
  readonly memory?: Handle
  readonly offset?: number
  readonly length?: number
  readonly access: number
  readonly keyTag?: number
}

export interface IndirectKeyFacts {
  readonly handle: Handle
  readonly localKey: number
  readonly remoteKey: number
  readonly maxPieces: number
}

export type LayoutSpecification = { readonly id: number; readonly key: Handle; readonly access: number } & (
  | { readonly pieces: readonly SegmentSpecification[] }
  | { readonly interleaved: readonly (SegmentSpecification & { readonly skip: number })[]; readonly repeat: number }
)

export interface ReregisterSpecification {
  readonly access?: number
  readonly domain?: Handle
  /** Use private memory of that many bytes instead. */
  readonly bytes?: number
}

/** The memory part of a player: windows, reregistration, and everything that is not an ordinary region. */
export interface MemoryPlayer {
  window(domain: Handle, type: MemoryWindowType): Promise<WindowFacts>
  /** The key of the last bind that was posted. */
  windowKey(window: Handle): Promise<number>
  /** Post a bind. Returns the key that the window will have. */
  bind(pair: Handle, bind: BindSpecification): Promise<number>
  reregister(memory: Handle, changes: ReregisterSpecification): Promise<MemoryFacts>
  deviceMemory(bytes: number): Promise<Handle>
  copyToDevice(memory: Handle, offset: number, bytes: Uint8Array): Promise<void>
  copyFromDevice(memory: Handle, offset: number, length: number): Promise<Uint8Array>
  registerDevice(domain: Handle, memory: Handle, offset: number, length: number, access: number): Promise<MemoryFacts>
  /** A region over the whole address space. */
  implicit(domain: Handle, access: number): Promise<MemoryFacts>
  /** A region over physical memory. */
  physical(domain: Handle, access: number): Promise<MemoryFacts>
  advise(domain: Handle, advice: 'prefetch' | 'prefetch-write', ranges: readonly SegmentSpecification[]): Promise<void>
  indirectKey(domain: Handle, maxPieces: number): Promise<IndirectKeyFacts>
  /** Post the layout of an indirect key. */
  configure(pair: Handle, layout: LayoutSpecification): Promise<void>
  threadDomain(): Promise<Handle>
  parentDomain(domain: Handle, threadDomain?: Handle): Promise<Handle>
}
