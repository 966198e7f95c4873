import { SystemError } from '../../native/index.ts'
import type { ProviderMemoryRegion } from '../contract.ts'
import { Errno } from '../errors.ts'
import type { AllocateOptions } from '../memory-contract.ts'
import { canceled, Pending } from '../pending.ts'
import { type AllocatedBytes, freshBytes } from './allocated-bytes.ts'
import { explainUnpinnable } from './locked-memory.ts'
import { checkAccess, IbverbsMemoryRegion, type MemoryDomain } from './memory-region.ts'
import { verbError } from './verb.ts'

const NO_DESCRIPTOR = -1

/** What happens before the registration itself. */
interface Preparation {
  /** The memory object whose first `reserveBytes` are to be taken, else -1. */
  readonly descriptor: number
  readonly reserveBytes: number
  readonly lock: boolean
}

/** ibv_reg_mr(3) of new memory on another thread, which also takes and locks the pages. */
export function allocateAsync(
  domain: MemoryDomain,
  lengthBytes: number,
  access: number,
  options: AllocateOptions,
): Pending<ProviderMemoryRegion> {
  checkAccess(access)
  const fresh = freshBytes(lengthBytes, options)
  try {
    const { descriptor, mappedBytes: reserveBytes } = fresh
    return begin(domain, fresh.bytes, access, { descriptor, reserveBytes, lock: options.lock === true }, fresh)
  } catch (error) {
    fresh.free()
    throw error
  } finally {
    fresh.closeDescriptor()
  }
}

/** ibv_reg_mr(3) on another thread. */
export function registerAsync(domain: MemoryDomain, bytes: Uint8Array, access: number): Pending<ProviderMemoryRegion> {
  checkAccess(access)
  return begin(domain, bytes, access, { descriptor: NO_DESCRIPTOR, reserveBytes: 0, lock: false }, undefined)
}

function begin(
  domain: MemoryDomain,
  bytes: Uint8Array,
  access: number,
  { descriptor, reserveBytes, lock }: Preparation,
  allocated: AllocatedBytes | undefined,
): Pending<ProviderMemoryRegion> {
  const { verbs } = domain.device
  const { handle, done } = verbs.registerMemoryAsync(domain.handle, bytes, access, descriptor, reserveBytes, lock)
  let isGivenUp = false
  const make = async (): Promise<ProviderMemoryRegion> => {
    try {
      const keys = await done
      if (isGivenUp) throw canceled('ibv_reg_mr')
      const region = IbverbsMemoryRegion.of(domain, { handle, ...keys }, bytes, access, allocated)
      domain.memories.add(region)
      return region
    } catch (error) {
      allocated?.free()
      throw explained(error, bytes.length)
    }
  }
  return new Pending(make(), (wait) => {
    isGivenUp = true
    verbs.giveUp(handle, wait)
  })
}

function explained(error: unknown, lengthBytes: number): unknown {
  if (!(error instanceof SystemError)) return error
  if (error.errno === Errno.ECANCELED) return canceled('ibv_reg_mr')
  const isPinning = error.syscall === 'ibv_reg_mr' && error.errno === Errno.ENOMEM
  const message = isPinning ? explainUnpinnable(lengthBytes) : error.message
  return verbError('ibv_reg_mr', error.errno, message, error)
}
