import type { Census } from '../heap/census.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { FetchAddCommand } from '../memory/command.ts'
import { countCorrection } from './count.ts'

/**
 * Corrects the counts of maps with a bound. A count is off by one for each change whose rank was stopped between the
 * entry and its count. That is as rare as deaths, and a change by a live rank looks the same for an instant.
 *
 * So a count is corrected if two censuses of this rank in a row found it off in the same direction, by what both found.
 * If that was wrong, another census finds it.
 */
export class MapRecount {
  readonly #memory: HomeMemory
  #last = new Map<number, number>()

  constructor(memory: HomeMemory) {
    this.#memory = memory
  }

  async settle({ miscounts }: Pick<Census, 'miscounts'>): Promise<void> {
    const last = this.#last
    this.#last = new Map(miscounts.map(({ place, entries }) => [place, entries]))
    for (const { place, entries } of miscounts) {
      const before = last.get(place) ?? 0
      if (before * entries <= 0) continue
      const off = Math.sign(entries) * Math.min(Math.abs(before), Math.abs(entries))
      await this.#memory.run([new FetchAddCommand(place, countCorrection(off))])
      this.#last.delete(place)
    }
  }
}
