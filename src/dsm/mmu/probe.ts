import process from 'node:process'
import { AetherError, native, SystemError, UnsupportedError } from '../../native/index.ts'
import { RegionWindow } from '../region-window.ts'

const PAGE_BYTES = 4096
/** UFFD_FEATURE_MINOR_HUGETLBFS. */
const MINOR_HUGETLBFS = 1 << 9

/**
 * The userfaultfd of this process and whether it governs huge pages too; or why views of coherent regions are not
 * available here.
 */
export type UserfaultProbe =
  | { readonly descriptor: number; readonly hugePages: boolean }
  | { readonly refused: UnsupportedError }

/**
 * Open a userfaultfd and try, on one page, all that views need of it. It is tried because kernels, containers and
 * sysctls differ. `AETHER_USERFAULT=off` refuses it, so that programs can be tested without it.
 */
export function probeUserfault(): UserfaultProbe {
  if (process.env['AETHER_USERFAULT'] === 'off') return refuse('AETHER_USERFAULT=off forbids userfaultfd')
  let descriptor = -1
  try {
    const opened = native.openUserfault()
    descriptor = opened.descriptor
    tryOnePage(descriptor)
    return { descriptor, hugePages: (opened.features & MINOR_HUGETLBFS) !== 0 }
  } catch (error) {
    if (!(error instanceof AetherError)) throw error
    if (descriptor >= 0) native.closeDescriptor(descriptor)
    return refuse(error.message, error)
  }
}

function refuse(why: string, cause?: Error): UserfaultProbe {
  const message = `views of coherent regions need Linux 6.4 or later with userfaultfd allowed: ${why}. The explicit calls (read, write, fetchAdd, …) and 'hardware' regions work without it`
  return { refused: new UnsupportedError(message, cause && { cause }) }
}

/** Map a page write-protected in one step, open it, take it away. */
function tryOnePage(userfault: number): void {
  const memory = native.createMemory('aether-probe', PAGE_BYTES, 0)
  try {
    native.reserveMemory(memory, 0, PAGE_BYTES)
    const window = new RegionWindow(memory, 0, 0, PAGE_BYTES)
    try {
      native.registerUserfault(userfault, window.address, PAGE_BYTES)
      check('UFFDIO_CONTINUE', native.installPages(userfault, window.address, PAGE_BYTES, true))
      check('UFFDIO_WRITEPROTECT', native.protectPages(userfault, window.address, PAGE_BYTES, false))
      check('madvise', native.zapPages(window.address, PAGE_BYTES))
    } finally {
      window.close()
    }
  } finally {
    native.closeDescriptor(memory)
  }
}

function check(syscall: string, result: number): void {
  if (result < 0) throw new SystemError(syscall, -result, `errno ${-result}`, `${syscall} failed with errno ${-result}`)
}
