import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { pidNamespace, runtimeDirectory } from '../../runtime/index.ts'
import type { Place } from './index-contract.ts'

const PART = 'index'
const ENDING = '.json'

/** Where the nodes of this machine write how they are reached, a file for each: clients need no more than the name. */
export class NodeCards {
  readonly #directory: string
  readonly #prefix: string

  constructor(name: string) {
    this.#directory = runtimeDirectory(PART)
    this.#prefix = `${encodeURIComponent(name)}@${pidNamespace()}-`
  }

  /** Show a node of this process, until the returned function is called or the process has ended. */
  show(rank: number, place: Place): () => void {
    const path = join(this.#directory, `${this.#prefix}${process.pid}-${rank}${ENDING}`)
    // As a whole, or not at all.
    writeFileSync(`${path}.new`, JSON.stringify(place), { mode: 0o600 })
    renameSync(`${path}.new`, path)
    return () => rmSync(path, { force: true })
  }

  /** Those whose processes live. What others have left is removed. */
  list(): Place[] {
    const files = readdirSync(this.#directory).filter((file) => file.startsWith(this.#prefix) && file.endsWith(ENDING))
    return files.flatMap((file) => {
      const path = join(this.#directory, file)
      if (!isAlive(Number.parseInt(file.slice(this.#prefix.length), 10))) {
        rmSync(path, { force: true })
        return []
      }
      try {
        return JSON.parse(readFileSync(path, 'utf8')) as Place
      } catch (error) {
        // It has just been closed.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
        throw error
      }
    })
  }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
