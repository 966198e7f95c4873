import { native, SystemError } from '../../native/index.ts'
import type { Mmu } from './mmu.ts'
import { PageRight, type PageWords } from './page-words.ts'
import type { WindowPlace, WindowTable } from './window-table.ts'

/** What the region gives its mmu. */
export interface UserfaultMmuOptions {
  /** The process's userfaultfd; every window was registered with it before it was entered into the table. */
  readonly userfault: number
  readonly pageBytes: number
  readonly windows: WindowTable
  readonly words: PageWords
}

/**
 * Page rights by page tables: userfaultfd(2) over a shared memory object, missing + minor + write-protect.
 *
 * ```
 * none -> read     CONTINUE with write protection            read -> write    remove write protection
 * none -> write    CONTINUE                                   write -> read    write-protect (the TLBs are flushed
 *                                                                              when it returns)
 * any  -> none     MADV_DONTNEED, then WAKE: a writer that waits on write protection is not woken by MADV_DONTNEED
 * ```
 *
 * A window may begin or end within a page of the region; an operation is applied to the part that each window shows.
 */
export class UserfaultMmu implements Mmu {
  readonly #options: UserfaultMmuOptions

  constructor(options: UserfaultMmuOptions) {
    this.#options = options
  }

  mapReadOnly(page: number): void {
    this.#eachPart(page, (address, length) => this.#install(address, length, true))
  }

  mapWritable(page: number): void {
    const { userfault, words } = this.#options
    const right = words.right(page)
    this.#eachPart(page, (address, length) => {
      if (right !== PageRight.None) check('UFFDIO_WRITEPROTECT', native.protectPages(userfault, address, length, false))
      // From `read` every part that was ever touched is installed already; the rest faults when it is touched.
      if (right !== PageRight.Read) this.#install(address, length, false)
    })
  }

  protect(page: number): void {
    this.#eachPart(page, (address, length) =>
      check('UFFDIO_WRITEPROTECT', native.protectPages(this.#options.userfault, address, length, true)),
    )
  }

  unmap(page: number): void {
    this.#eachPart(page, (address, length) => {
      check('madvise', native.zapPages(address, length))
      check('UFFDIO_WAKE', native.wakePages(this.#options.userfault, address, length))
    })
  }

  #install(address: number, length: number, writeProtected: boolean): void {
    check('UFFDIO_CONTINUE', native.installPages(this.#options.userfault, address, length, writeProtected))
  }

  #eachPart(page: number, act: (address: number, length: number) => void): void {
    const { pageBytes, windows } = this.#options
    const begin = page * pageBytes
    for (const window of windows.windows()) {
      const from = Math.max(begin, window.offsetBytes)
      const to = Math.min(begin + pageBytes, window.offsetBytes + window.lengthBytes)
      if (from < to) act(window.address + (from - window.offsetBytes), to - from)
    }
  }
}

/** The region's page at `address` in one of the windows, or -1. */
export function pageAtAddress(windows: readonly WindowPlace[], address: number, pageBytes: number): number {
  for (const window of windows) {
    const within = address - window.address
    if (within >= 0 && within < window.lengthBytes) return Math.floor((window.offsetBytes + within) / pageBytes)
  }
  return -1
}

/** These fail only where the agent's picture of the process is wrong: going on would show stale bytes. */
function check(syscall: string, result: number): void {
  if (result < 0)
    throw new SystemError(syscall, -result, `errno ${-result}`, `${syscall} on a view failed with errno ${-result}`)
}
