import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

/** A directory of a benchmark's own, for sockets and files; it is gone with it, and with the process. */
export class ScratchDirectory implements Disposable {
  readonly path: string
  readonly #remove = (): void => rmSync(this.path, { recursive: true, force: true })

  constructor(parent: string = tmpdir()) {
    this.path = mkdtempSync(join(parent, 'aether-bench-'))
    process.once('exit', this.#remove)
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#remove)
    this.#remove()
  }
}
