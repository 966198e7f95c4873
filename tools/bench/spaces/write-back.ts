import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { AetherError } from 'aether-dsm/internal/native'

/** From one write-back of a file to the next, unless it takes longer. */
const PERIOD_MS = 1000

/**
 * Has the kernel write the changed pages of files to the disk once a second, until it is disposed of. Processes of its
 * own do it by `sync --data` of coreutils, which is fdatasync(2). The kernel alone does it some seconds to half a
 * minute after a change (`vm.dirty_expire_centisecs`), or sooner if much has changed (`vm.dirty_background_ratio`).
 */
export class WriteBack implements AsyncDisposable {
  readonly #children = new Set<ChildProcess>()
  readonly #stop = new AbortController()
  #loops: Promise<unknown> = Promise.resolve()
  readonly #end = (): void => {
    for (const child of this.#children) child.kill('SIGKILL')
  }

  private constructor() {
    process.prependOnceListener('exit', this.#end)
  }

  /**
   * Of all files in each directory, those of different directories at the same time. All have been written once when it
   * resolves. @throws AetherError where the program is not there.
   */
  static async start(directories: readonly string[]): Promise<WriteBack> {
    const writeBack = new WriteBack()
    await Promise.all(directories.map((directory) => writeBack.#write(directory)))
    writeBack.#loops = Promise.all(directories.map((directory) => writeBack.#goOn(directory)))
    // It is awaited in the end.
    writeBack.#loops.catch(() => {})
    return writeBack
  }

  async #goOn(directory: string): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const period = sleep(PERIOD_MS, undefined, { signal }).catch(() => {})
      await this.#write(directory)
      await period
    }
  }

  async #write(directory: string): Promise<void> {
    const child = spawn('sync', ['--data', ...filesIn(directory)], { stdio: 'ignore' })
    this.#children.add(child)
    try {
      await once(child, 'exit')
    } catch (cause) {
      throw new AetherError('ERR_AETHER_BENCH', 'the program sync of coreutils is not there', { cause })
    } finally {
      this.#children.delete(child)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#loops
    process.off('exit', this.#end)
  }
}

/** Not FIFOs, which belong to the members of a space. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}

/**
 * Bytes that this process has made the kernel write to disks: `write_bytes` of proc(5). A page counts when it changes
 * for the first time since it was written. NaN where the kernel does not tell.
 */
export function writtenBytes(): number {
  try {
    return Number(/^write_bytes: (\d+)$/m.exec(readFileSync('/proc/self/io', 'latin1'))?.[1])
  } catch {
    return Number.NaN
  }
}
