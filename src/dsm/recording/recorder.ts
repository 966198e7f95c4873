import process from 'node:process'
import { printError } from '../../profiling/index.ts'
import type { CoherenceNode } from '../coherence/index.ts'
import { RotatingLog } from './rotating-log.ts'
import { encodeStep, type RecordedStep, type RecordingHeader } from './step.ts'

/** Where agents record what happens to their nodes; unset: nowhere. */
export const RECORD_VARIABLE = 'AETHER_RECORD'

const PART_BYTES = 16 * 2 ** 20
const PARTS = 4

/** Whose inputs are recorded. */
export interface RecorderOptions extends Pick<RecordingHeader, 'region' | 'protocol' | 'rank' | 'ranks'> {
  readonly directory: string
  readonly partBytes?: number
  readonly parts?: number
}

/** The recording of one node, as it grows. A disk that is full ends the recording and not the node. */
export class Recorder {
  readonly #options: RecorderOptions
  #log: RotatingLog | undefined
  #startNs = 0
  #nowNs = 0

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** The file that is being written; undefined where there is none (any more). */
  get path(): string | undefined {
    return this.#log?.path
  }

  begin(node: CoherenceNode, nowNs: number): void {
    const { directory, region, rank, partBytes = PART_BYTES, parts = PARTS } = this.#options
    const name = `${encodeURIComponent(region).slice(0, 100)}-rank-${rank}-${process.pid}`
    this.#nowNs = nowNs
    const header = (part: number): string => this.#header(node, part)
    this.#try(() => {
      this.#log = new RotatingLog({ directory, name, partBytes, parts, header })
    })
  }

  step(nowNs: number, step: Omit<RecordedStep, 'atNs'>): void {
    this.#nowNs = nowNs
    this.#try(() => this.#log?.append(encodeStep({ ...step, atNs: nowNs - this.#startNs })))
  }

  flush(): void {
    this.#try(() => this.#log?.flush())
  }

  close(): void {
    this.#try(() => this.#log?.close())
    this.#log = undefined
  }

  #header(node: CoherenceNode, part: number): string {
    const { region, protocol, rank, ranks } = this.#options
    this.#startNs = this.#nowNs
    const header: RecordingHeader = {
      format: 'aether-recording',
      version: 1,
      region,
      protocol,
      rank,
      ranks,
      part,
      startNs: this.#startNs,
      state: node.save(),
    }
    return JSON.stringify(header)
  }

  #try(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#log = undefined
      const { directory, region } = this.#options
      // An agent's console would go through a thread that may be blocked.
      printError(`aether: the recording of region '${region}' in ${directory} ends here: ${String(error)}\n`)
    }
  }
}
