import { readFileSync } from 'node:fs'
import { native, SystemError } from '../../native/index.ts'

/** The huge pages that are used, in bytes. */
export const HUGE_PAGE_BYTES: number = 2 * 2 ** 20

/** At most this much is mapped at once to set it aside. */
const MAPPED_MAX = 2 ** 30

/**
 * Where the system says whether shared memory may be made of huge pages without a pool: the choice in force is in
 * brackets.
 */
const SHARED_HUGE = '/sys/kernel/mm/transparent_hugepage/shmem_enabled'

/**
 * What the frames of a region are made of:
 * - `huge`: pages of 2 MiB from the system's pool
 * - `transparent`: such pages if the kernel finds them, else ordinary ones
 * - `ordinary`: ordinary pages
 */
export type FramePages = 'huge' | 'transparent' | 'ordinary'

export interface FrameObject {
  readonly descriptor: number
  readonly pages: FramePages
}

/**
 * A memory object for the frames of a region whose pages have `pageBytes`. Huge pages are taken if every page of the
 * region is made of whole ones and the pool has enough for the whole region. They are then reserved, so that they
 * cannot run out later.
 */
export function createFrames(lengthBytes: number, pageBytes: number, mayBeHuge: boolean): FrameObject {
  const isMultiple = pageBytes % HUGE_PAGE_BYTES === 0
  const huge = isMultiple && mayBeHuge ? createHuge(lengthBytes) : undefined
  if (huge !== undefined) return { descriptor: huge, pages: 'huge' }
  const descriptor = native.createMemory('aether-frames', lengthBytes, 0)
  return { descriptor, pages: isMultiple && areTransparentAllowed() ? 'transparent' : 'ordinary' }
}

function createHuge(lengthBytes: number): number | undefined {
  let descriptor: number | undefined
  try {
    descriptor = native.createMemory('aether-frames', lengthBytes, HUGE_PAGE_BYTES)
    setAside(descriptor, lengthBytes)
    return descriptor
  } catch (error) {
    if (descriptor !== undefined) native.closeDescriptor(descriptor)
    if (error instanceof SystemError) return undefined
    throw error
  }
}

/**
 * Pages are set aside for what is mapped, and stay so when it is unmapped. @throws SystemError ENOMEM where the pool
 * has too few.
 */
function setAside(descriptor: number, lengthBytes: number): void {
  for (let begin = 0; begin < lengthBytes; begin += MAPPED_MAX)
    native.unmapMemory(native.mapMemory(descriptor, begin, Math.min(MAPPED_MAX, lengthBytes - begin), 0))
}

function areTransparentAllowed(): boolean {
  try {
    return /\[(always|within_size|advise|force)\]/.test(readFileSync(SHARED_HUGE, 'utf8'))
  } catch {
    return false
  }
}
