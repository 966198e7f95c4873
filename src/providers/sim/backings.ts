import { Errno, VerbsError } from '../errors.ts'
import type { Backing, Backings } from '../soft/backings.ts'
import type { AddressSpace } from './address-space.ts'
import { MemoryBlock } from './memory-block.ts'
import { NO_BYTES } from './packet.ts'

/** More than any process has. */
const WHOLE_PROCESS_BYTES: number = 2 ** 47

export interface SimBacking extends Backing {
  /** Undefined for whatever the process has at an address. */
  readonly block: MemoryBlock | undefined
  readonly offset: number
  /** The block is in the address space until its region ends. */
  readonly owned: boolean
}

/** Memory of one simulated process, and of its adapter. */
export class SimBackings implements Backings {
  readonly #space: AddressSpace
  readonly #physical: MemoryBlock | undefined

  constructor(space: AddressSpace, physicalBytes: number) {
    this.#space = space
    this.#physical = physicalBytes === 0 ? undefined : space.allocate(physicalBytes)
  }

  /** The size of pages makes no difference here. */
  allocate(_verb: string, lengthBytes: number): SimBacking {
    return backingOf(this.#space.allocate(lengthBytes), 0, lengthBytes, false, true)
  }

  register(buffer: Uint8Array): SimBacking {
    return backingOf(this.#space.adopt(buffer), 0, buffer.length, false, true)
  }

  wholeProcess(): SimBacking {
    const length = WHOLE_PROCESS_BYTES
    return { bytes: NO_BYTES, address: 0, length, zeroBased: false, block: undefined, offset: 0, owned: false }
  }

  physical(): SimBacking {
    const block = this.#physical
    if (block !== undefined) return backingOf(block, 0, block.bytes.length, true, false)
    const what = 'this device has no physical memory: open it with { physicalBytes }'
    throw new VerbsError('ibv_exp_reg_mr', Errno.EPERM, what)
  }

  /** It has no address in the process, and no program touches it. */
  allocateOnDevice(lengthBytes: number): SimBacking {
    return backingOf(new MemoryBlock(new Uint8Array(lengthBytes), 0), 0, lengthBytes, true, false)
  }

  part({ block }: SimBacking, offset: number, length: number): SimBacking {
    return backingOf(block!, offset, length, true, false)
  }

  release({ block, owned }: SimBacking): void {
    if (owned && block !== undefined) this.#space.remove(block)
  }
}

function backingOf(block: MemoryBlock, offset: number, length: number, zeroBased: boolean, owned: boolean): SimBacking {
  const bytes = block.bytes.subarray(offset, offset + length)
  return { bytes, address: block.address + offset, length, zeroBased, block, offset, owned }
}
