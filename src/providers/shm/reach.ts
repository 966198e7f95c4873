import { Access } from '../access.ts'
import type { PeerDevice } from './peer-device.ts'
import type { RemoteMemory } from './remote-memory.ts'
import type { SegmentList } from './segment-list.ts'

/**
 * Append `length` bytes of a peer's memory from `offset` on, through windows and indirect keys to the regions that hold
 * them. The keys of those regions are looked up each time, because they may have been revoked. `pairNumber` is the
 * owner's queue pair. Returns false if the bytes may not be reached that way. The caller has checked rights and bounds
 * of `memory` itself.
 */
export function reach(
  list: SegmentList,
  peer: PeerDevice,
  memory: RemoteMemory,
  offset: number,
  length: number,
  pairNumber: number,
  right: number,
): boolean {
  const { derivation } = memory
  if (derivation === undefined) {
    list.add(memory.span, offset, length)
    return true
  }
  if (derivation.queuePair !== 0 && derivation.queuePair !== pairNumber) return false
  // A write to memory behind a key needs the right that a local write would need.
  const needed = right === Access.RemoteRead ? 0 : Access.LocalWrite
  if (derivation.pieces === undefined) {
    // Windows have no local key.
    if (right === Access.LocalWrite) return false
    const base = peer.memory(derivation.baseKey)
    return take(list, memory, base, derivation.baseAddress + offset, length, needed)
  }
  return derivation.pieces.walk(offset, length, (address, run, key) =>
    take(list, memory, peer.memory(key), address, run, needed),
  )
}

function take(
  list: SegmentList,
  memory: RemoteMemory,
  base: RemoteMemory | undefined,
  address: number,
  length: number,
  needed: number,
): boolean {
  if (base === undefined || base.derivation !== undefined || base.domainId !== memory.domainId) return false
  if ((base.access & needed) !== needed) return false
  const offset = address - base.address
  if (!(offset >= 0 && offset + length <= base.length)) return false
  list.add(base.span, offset, length)
  return true
}
