import { closeSync, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Bounds of a {@link RotatingLog}. */
export interface RotatingLogOptions {
  readonly directory: string
  /** Files are called `<name>.<part>.jsonl`, parts counted from 0. */
  readonly name: string
  /** A part that has grown so long is the last but one. */
  readonly partBytes: number
  /** How many parts are kept; the oldest goes first. */
  readonly parts: number
  /** The first line of each part: what a reader needs to begin there. */
  readonly header: (part: number) => string
}

/** Lines are collected up to here before they are written, unless {@link RotatingLog.flush} comes first. */
const BATCH_BYTES = 1 << 16

/**
 * Lines in files of bounded length, of which the newest few are kept. So a long-lived process may record for ever.
 * Every part can be read by itself. Only the synchronous calls of `fs` are used. An agent has no event loop while it
 * serves, and what was written is there after a SIGKILL.
 */
export class RotatingLog {
  readonly #options: RotatingLogOptions
  #descriptor = -1
  #part = -1
  #written = 0
  #batch = ''

  /** @throws the error of `fs` where the directory cannot be made or written. */
  constructor(options: RotatingLogOptions) {
    this.#options = options
    mkdirSync(options.directory, { recursive: true, mode: 0o700 })
    this.#begin()
  }

  /** The file that is being written. */
  get path(): string {
    return this.#pathOf(this.#part)
  }

  append(line: string): void {
    this.#batch += `${line}\n`
    if (this.#batch.length >= BATCH_BYTES) this.flush()
  }

  /** Hand what was appended to the kernel, and begin a new part where this one is full. */
  flush(): void {
    if (this.#descriptor < 0 || this.#batch === '') return
    this.#write()
    if (this.#written >= this.#options.partBytes) this.#begin()
  }

  close(): void {
    if (this.#descriptor < 0) return
    if (this.#batch !== '') this.#write()
    closeSync(this.#descriptor)
    this.#descriptor = -1
  }

  /** Everything appended so far belongs to the part before: the header describes what comes after it. */
  #begin(): void {
    const { parts, header } = this.#options
    const last = this.#descriptor
    this.#part += 1
    this.#descriptor = openSync(this.path, 'w', 0o600)
    this.#written = 0
    this.#batch = `${header(this.#part)}\n`
    this.#write()
    if (last >= 0) closeSync(last)
    if (this.#part >= parts) unlinkIfThere(this.#pathOf(this.#part - parts))
  }

  #write(): void {
    const bytes = Buffer.from(this.#batch)
    this.#batch = ''
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at)
    this.#written += bytes.length
  }

  #pathOf(part: number): string {
    return join(this.#options.directory, `${this.#options.name}.${part}.jsonl`)
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
