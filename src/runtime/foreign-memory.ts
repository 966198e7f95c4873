import { closeSync, openSync } from 'node:fs'
import process from 'node:process'
import { native, SystemError } from '../native/index.ts'

/** A memory object of another process of this machine, by its descriptor there. */
export interface ForeignMemory {
  readonly processId: number
  readonly descriptor: number
  /** Bytes to map, from its start. */
  readonly lengthBytes: number
}

/**
 * Map a memory object of another process. Undefined if it cannot be reached from here, since its process has ended or
 * runs elsewhere. Also if it is another user's, shorter than that, or could be shrunk while it is mapped. What it holds
 * is not checked: the process may have ended, and another have its number.
 */
export function mapForeignMemory({ processId, descriptor, lengthBytes }: ForeignMemory): ArrayBuffer | undefined {
  let opened = -1
  try {
    opened = openSync(`/proc/${processId}/fd/${descriptor}`, 'r+')
    const found = native.describeMemory(opened)
    if (found.shrinkable || found.userId !== process.geteuid?.() || found.lengthBytes < lengthBytes) return undefined
    return native.mapMemory(opened, 0, lengthBytes, 0)
  } catch (error) {
    if (error instanceof SystemError || (error as NodeJS.ErrnoException).errno !== undefined) return undefined
    throw error
  } finally {
    if (opened >= 0) closeSync(opened)
  }
}
