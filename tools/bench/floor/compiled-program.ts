import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { AetherError } from 'aether-dsm/internal/native'
import { ScratchDirectory } from '../scratch-directory.ts'

/** A program in C++ beside this file, compiled for this run. */
export class CompiledProgram implements Disposable {
  readonly path: string
  readonly #scratch = new ScratchDirectory()

  /** @throws AetherError where there is no compiler, or it fails. */
  constructor(name: string) {
    this.path = join(this.#scratch.path, name)
    const source = fileURLToPath(new URL(`./${name}.cc`, import.meta.url))
    const compiler = process.env['CXX'] ?? 'c++'
    try {
      execFileSync(compiler, ['-std=c++17', '-O2', '-pthread', source, '-o', this.path], { stdio: 'pipe' })
    } catch (error) {
      this[Symbol.dispose]()
      const why = `${compiler} does not compile ${name}.cc: ${(error as Error).message}`
      throw new AetherError('ERR_AETHER_BENCH', why)
    }
  }

  [Symbol.dispose](): void {
    this.#scratch[Symbol.dispose]()
  }
}
