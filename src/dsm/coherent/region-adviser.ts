import process from 'node:process'
import type { Runtime } from '../../runtime/index.ts'
import { ADVISE_DIRECTORY_VARIABLE, AdvicePart } from '../advice/advice-parts.ts'
import { SharingWatch } from '../advice/sharing-watch.ts'
import { PageRight } from '../mmu/page-words.ts'
import type { Frames } from './frames.ts'
import type { RegionPlan } from './region-plan.ts'

export interface RegionAdviserOptions {
  readonly id: number
  readonly plan: RegionPlan
  readonly rank: number
  readonly ranks: number
  readonly runtime: Runtime
  readonly frames: Frames
}

/**
 * A served region that is open with `advise`. What happens to its pages is reported to the watch, and its findings are
 * written down for the process that started the ranks.
 */
export class RegionAdviser {
  readonly watch: SharingWatch
  /** Where who started the ranks wants to know it, too. */
  readonly #part: AdvicePart | undefined

  constructor(options: RegionAdviserOptions) {
    const { plan, runtime, frames } = options
    const { name: region, pageSize: pageBytes } = plan
    const bytesOf = (page: number): Uint8Array => {
      const { bytes, offsetBytes } = frames.chunkAt(page * pageBytes)
      const begin = page * pageBytes - offsetBytes
      return bytes.subarray(begin, begin + pageBytes)
    }
    this.watch = new SharingWatch({ region, pageBytes, now: () => runtime.now(), bytesOf })
    this.#part = newPart(options, this.watch)
  }

  /** This rank may write the page from now on, and had the right `had` to it. */
  writable(page: number, had: number): void {
    if (had !== PageRight.Write) this.watch.writable(page)
  }

  /** It may still read it. */
  protected(page: number): void {
    this.watch.writeEnded(page, 'reader')
  }

  /** It has lost its right to the page, and had `had`; `givenUp`: by itself, for no other rank. */
  unmapped(page: number, had: number, givenUp: boolean): void {
    const by = givenUp ? 'nobody' : 'writer'
    if (had === PageRight.Write) this.watch.writeEnded(page, by)
    else if (had === PageRight.Read) this.watch.readEnded(page, by)
  }

  close(): void {
    this.#part?.close()
    this.watch.close()
  }
}

function newPart(
  { id, plan, rank, ranks, runtime }: RegionAdviserOptions,
  watch: SharingWatch,
): AdvicePart | undefined {
  const directory = process.env[ADVISE_DIRECTORY_VARIABLE]
  if (!directory) return undefined
  const { name: region, size, pageSize } = plan
  const part = new AdvicePart(directory, id, { region, size, pageSize, rank, ranks }, watch)
  part.begin(
    (atNs, run) => runtime.timers.at(atNs, run),
    () => runtime.now(),
  )
  return part
}
