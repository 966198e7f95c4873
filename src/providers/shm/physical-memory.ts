import { ArgumentError } from '../../native/index.ts'
import type { BufferOrigin } from '../memory-contract.ts'
import { MAX_REGION_BYTES } from './layout.ts'
import { allocateBacking, releaseBacking } from './memory-backing.ts'

/** What a device's owner provides as "physical memory": one object, whose offsets are the addresses. */
export interface PhysicalMemory {
  readonly bytes: Uint8Array
  readonly origin: BufferOrigin
  close(): void
}

/** Undefined for a device without physical memory. */
export function openPhysicalMemory(lengthBytes: number): PhysicalMemory | undefined {
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 0 || lengthBytes > MAX_REGION_BYTES)
    throw new ArgumentError('physicalBytes', `must be from 0 to ${MAX_REGION_BYTES}, not ${lengthBytes}`)
  if (lengthBytes === 0) return undefined
  const backing = allocateBacking('ibv_open_device', lengthBytes, {})
  return { bytes: backing.bytes, origin: backing.origin!, close: () => releaseBacking(backing) }
}
