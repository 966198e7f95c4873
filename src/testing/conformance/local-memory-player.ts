import { RequestSlot } from '../../providers/index.ts'
import {
  DeviceMemory,
  IndirectKey,
  MemoryRegion,
  MemoryWindow,
  type MemoryWindowType,
  type PreparedRequest,
  ProtectionDomain,
  QueuePair,
  ThreadDomain,
} from '../../verbs/index.ts'
import type {
  BindSpecification,
  IndirectKeyFacts,
  LayoutSpecification,
  MemoryPlayer,
  ReregisterSpecification,
  WindowFacts,
} from './memory-player.ts'
import type { Handle, MemoryFacts, RequestSpecification, SegmentSpecification } from './player-data.ts'
import { attempt, PlayerNouns } from './player-nouns.ts'

/** The memory part of a player in this process. */
export class LocalMemoryPlayer extends PlayerNouns implements MemoryPlayer {
  window(domain: Handle, type: MemoryWindowType): Promise<WindowFacts> {
    return attempt(() => {
      const window = this.get(domain, ProtectionDomain).createMemoryWindow(type)
      return { handle: this.keep(window), remoteKey: window.remoteKey }
    })
  }

  windowKey(window: Handle): Promise<number> {
    return attempt(() => this.get(window, MemoryWindow).remoteKey)
  }

  bind(pair: Handle, bind: BindSpecification): Promise<number> {
    return attempt(() => {
      const window = this.get(bind.window, MemoryWindow)
      const { memory, id, ...fields } = bind
      const region = memory === undefined ? {} : { memory: this.get(memory, MemoryRegion) }
      this.get(pair, QueuePair)
        .prepareBind({ ...fields, ...region, window })
        .post(id)
      return window.remoteKey
    })
  }

  reregister(memory: Handle, changes: ReregisterSpecification): Promise<MemoryFacts> {
    return attempt(() => {
      const region = this.get(memory, MemoryRegion)
      const { access, domain, bytes } = changes
      region.reregister({
        ...(access === undefined ? {} : { access }),
        ...(domain === undefined ? {} : { domain: this.get(domain, ProtectionDomain) }),
        ...(bytes === undefined ? {} : { buffer: new ArrayBuffer(bytes) }),
      })
      return this.factsOf(memory, region)
    })
  }

  deviceMemory(bytes: number): Promise<Handle> {
    return attempt(() => this.keep(this.device.allocateDeviceMemory(bytes, { alignmentBytes: 64 })))
  }

  copyToDevice(memory: Handle, offset: number, bytes: Uint8Array): Promise<void> {
    return attempt(() => this.get(memory, DeviceMemory).write(offset, bytes))
  }

  copyFromDevice(memory: Handle, offset: number, length: number): Promise<Uint8Array> {
    return attempt(() => {
      const bytes = new Uint8Array(length)
      this.get(memory, DeviceMemory).read(offset, bytes)
      return bytes
    })
  }

  registerDevice(domain: Handle, memory: Handle, offset: number, length: number, access: number): Promise<MemoryFacts> {
    return attempt(() => {
      const deviceMemory = this.get(memory, DeviceMemory)
      const range = { offset, length }
      return this.keepMemory(this.get(domain, ProtectionDomain).registerDeviceMemory(deviceMemory, access, range))
    })
  }

  implicit(domain: Handle, access: number): Promise<MemoryFacts> {
    return attempt(() => this.keepMemory(this.get(domain, ProtectionDomain).registerImplicit(access)))
  }

  physical(domain: Handle, access: number): Promise<MemoryFacts> {
    return attempt(() => this.keepMemory(this.get(domain, ProtectionDomain).registerPhysical(access)))
  }

  advise(
    domain: Handle,
    advice: 'prefetch' | 'prefetch-write',
    ranges: readonly SegmentSpecification[],
  ): Promise<void> {
    return attempt(() => this.get(domain, ProtectionDomain).advise(advice, ranges, { flush: true }))
  }

  indirectKey(domain: Handle, maxPieces: number): Promise<IndirectKeyFacts> {
    return attempt(() => {
      const key = this.get(domain, ProtectionDomain).createIndirectKey({ maxPieces })
      const { localKey, remoteKey } = key
      return { handle: this.keep(key), localKey, remoteKey, maxPieces: key.maxPieces }
    })
  }

  configure(pair: Handle, { id, key: handle, ...layout }: LayoutSpecification): Promise<void> {
    return attempt(() => {
      const key = this.get(handle, IndirectKey)
      this.get(pair, QueuePair).prepareConfigureKey(key, layout).post(id)
    })
  }

  threadDomain(): Promise<Handle> {
    return attempt(() => this.keep(this.device.createThreadDomain()))
  }

  parentDomain(domain: Handle, threadDomain?: Handle): Promise<Handle> {
    return attempt(() => {
      const thread = threadDomain === undefined ? undefined : this.get(threadDomain, ThreadDomain)
      return this.keep(this.get(domain, ProtectionDomain).createParentDomain(thread))
    })
  }
}

/** The fields that only some memory operations have. */
export function encodeMemoryFields(prepared: PreparedRequest, request: RequestSpecification): void {
  const { bits, words } = prepared.encoded
  const { compareMask, swapMask, boundaries, invalidate } = request
  if (compareMask !== undefined) bits[RequestSlot.CompareMask] = compareMask
  if (swapMask !== undefined) bits[RequestSlot.SwapMask] = swapMask
  if (boundaries !== undefined) bits[RequestSlot.BoundaryMask] = boundaries
  if (invalidate !== undefined) words[RequestSlot.Immediate] = invalidate
}
