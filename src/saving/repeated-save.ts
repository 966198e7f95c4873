import { stat } from 'node:fs/promises'
import process from 'node:process'
import type { Omission, SaveRepetition, Space } from '../dsm/index.ts'
import { messageOfThrown } from '../native/index.ts'
import { NewFile } from './new-file.ts'
import { startOf } from './restore.ts'
import { writeSave } from './save.ts'

/** The codes of the warnings about a save that failed, and about one that does not have everything. */
const Warning = { Failed: 'AETHER_SAVE_FAILED', Omits: 'AETHER_SAVE_OMITS' } as const
/** How soon to look again while another process writes the file. */
const BUSY_SHARE = 0.1
/** A save that another process has not finished after this many intervals is reported. */
const BUSY_INTERVALS = 3

/**
 * Saves a space again and again. Every member that was asked to does the same: it looks how old the file is. It saves
 * if that is more than the interval, and no other process is writing the file (see {@link NewFile}). So one member at a
 * time saves, and if that one dies, another does.
 *
 * It does not keep the process alive. A failure is reported once, until a save has succeeded again. What a save cannot
 * have is reported once for each region or structure.
 */
export class RepeatedSave {
  readonly #space: Space
  readonly #file: string
  readonly #everyMs: number
  readonly #consistent: boolean
  readonly #stop = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #isReported = false
  readonly #omitted = new Set<string>()

  constructor(space: Space, file: string, { everyMs, consistent }: SaveRepetition) {
    this.#space = space
    this.#file = file
    this.#everyMs = everyMs
    this.#consistent = consistent
    this.#running = this.#turn()
  }

  /** End, and give up a save that is under way. */
  async stop(): Promise<void> {
    this.#stop.abort()
    clearTimeout(this.#timer)
    await this.#running
  }

  /** Save if it is time, and wait for the next turn. */
  async #turn(): Promise<void> {
    const waitMs = await this.#attempt().catch((error) => {
      this.#report(error)
      return this.#everyMs
    })
    if (this.#stop.signal.aborted) return
    this.#timer = setTimeout(() => {
      this.#running = this.#turn()
    }, waitMs).unref()
  }

  /** Returns how long to wait before the next turn. */
  async #attempt(): Promise<number> {
    const ageMs = await ageOf(this.#file)
    if (ageMs < this.#everyMs) return Math.ceil(this.#everyMs - ageMs)
    await this.#checkReplaced()
    const file = await NewFile.tryBegin(this.#file)
    if (!(file instanceof NewFile)) {
      if (ageMs > BUSY_INTERVALS * this.#everyMs && Number.isFinite(ageMs))
        throw new Error('another process has begun it and does not end it; continue or end that process')
      return Math.max(1, this.#everyMs * BUSY_SHARE)
    }
    const options = { signal: this.#stop.signal, consistent: this.#consistent }
    for (const omission of (await writeSave(this.#space, file, options)).omitted) this.#reportOmission(omission)
    this.#isReported = false
    return this.#everyMs
  }

  /** What came to the file after the space was opened, say with the mount of a disk, was not restored: it stays. */
  async #checkReplaced(): Promise<void> {
    const start = await startOf(this.#file).catch((error) => {
      if (error.code === 'ERR_AETHER_SAVE_NOT_FOUND' || error.code === 'ERR_AETHER_SAVE_DAMAGED') return undefined
      throw error
    })
    const { identity, restoredNonce } = this.#space.membership.arena
    if (start?.arena === undefined || start.arena === identity.nonce || start.arena === restoredNonce) return
    const when = new Date(start.savedAtMs).toISOString()
    throw new Error(
      `a save of ${when} is there from which it was not restored; move that away, or end the space and open it again`,
    )
  }

  #report(error: unknown): void {
    if (this.#isReported || this.#stop.signal.aborted) return
    this.#isReported = true
    const what = `space '${this.#space.name}' could not be saved to ${this.#file}, and will be tried again`
    warn(`${what}: ${messageOfThrown(error)}`, Warning.Failed)
  }

  #reportOmission({ region, structure, reason }: Omission): void {
    const what = structure === undefined ? `region '${region}'` : `'${structure}' in region '${region}'`
    if (this.#omitted.has(what)) return
    this.#omitted.add(what)
    const gone = `a restore of space '${this.#space.name}' will not have it`
    warn(`${what} is in no save, as ${reason}: ${gone}`, Warning.Omits)
  }
}

function warn(message: string, code: string): void {
  process.emitWarning(message, { type: 'AetherWarning', code })
}

/** Milliseconds since the file was written; infinite if it is not there, or the clock was set back since. */
async function ageOf(file: string): Promise<number> {
  try {
    const ageMs = Date.now() - (await stat(file)).mtimeMs
    return ageMs < 0 ? Number.POSITIVE_INFINITY : ageMs
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
