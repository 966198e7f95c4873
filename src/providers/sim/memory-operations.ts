import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Opcode } from '../opcode.ts'
import type { Tokens } from '../soft/tokens.ts'
import { CompletionStatus } from '../status.ts'
import type { SimContext } from './context.ts'
import type { SimIndirectKey } from './indirect-key.ts'
import type { SimMemoryRegion } from './memory-region.ts'
import type { SimMemoryWindow } from './memory-window.ts'

/** A device with what requests name by token. */
export interface MemoryDevice extends SimContext {
  readonly regions: Tokens<SimMemoryRegion>
  readonly windows: Tokens<SimMemoryWindow>
  readonly indirectKeys: Tokens<SimIndirectKey>
}

/** True if a request changes only keys of its own device; the peer has no part in it. */
export function isMemoryOperation(opcode: number): boolean {
  return (
    opcode === Opcode.LocalInvalidate || opcode === Opcode.BindMemoryWindow || opcode === Opcode.ConfigureIndirectKey
  )
}

/** Carry out such a request. Returns a CompletionStatus. */
export function executeMemoryOperation(
  device: MemoryDevice,
  domainId: number,
  pairNumber: number,
  request: EncodedRequest,
): number {
  const { words } = request
  const opcode = words[RequestSlot.Opcode]!
  if (opcode === Opcode.LocalInvalidate)
    return invalidateKey(device, domainId, pairNumber, words[RequestSlot.Immediate]!)
  if (opcode === Opcode.BindMemoryWindow) return bind(device, domainId, pairNumber, request)
  const key = device.indirectKeys.get(words[RequestSlot.IndirectKey]!)
  if (key === undefined || key.domain.id !== domainId) return CompletionStatus.LocalQueuePairOperationError
  return key.configure(request)
}

/** Invalidate a key by work request. Returns a CompletionStatus. */
export function invalidateKey(device: SimContext, domainId: number, pairNumber: number, key: number): number {
  const holder = device.keys.holder(key)
  return holder?.invalidate(key, pairNumber, domainId) ?? CompletionStatus.LocalQueuePairOperationError
}

function bind(device: MemoryDevice, domainId: number, pairNumber: number, request: EncodedRequest): number {
  const { words } = request
  const window = device.windows.get(words[RequestSlot.Window]!)
  if (window === undefined || window.domain.id !== domainId) return CompletionStatus.MemoryWindowBindError
  const length = words[RequestSlot.Length]!
  const memory = length === 0 ? undefined : device.regions.get(words[RequestSlot.Memory]!)
  if (length > 0 && memory === undefined) return CompletionStatus.MemoryWindowBindError
  const address = words[RequestSlot.RemoteAddress]!
  const access = words[RequestSlot.Access]!
  return window.show({ memory, address, length, access }, words[RequestSlot.RemoteKey]!, pairNumber)
}
