import type { Algorithm, Setting } from '../model/algorithm.ts'
import type { RegionRule } from '../model/memory.ts'
import { CellLayout } from './register-cell.ts'

/** Room for values, and for what everyone has signed about what everyone has signed. */
const SIGNED_BYTES_PER_PAIR = 1024
const CRASH_BYTES = 1024

/** A region of one memory, with the registers of all rounds. */
export interface LaidRegion {
  readonly rule: RegionRule
  /** The registers of one round. */
  readonly registers: number
  readonly cell: CellLayout
}

/** The regions of one memory, by name. In each of the `rounds`, an algorithm has registers of its own. */
export function memoryLayout(
  algorithm: Algorithm,
  setting: Setting,
  memory: number,
  rounds: number,
): ReadonlyMap<string, LaidRegion> {
  const textBytesMax =
    algorithm.failures === 'crash' ? CRASH_BYTES : SIGNED_BYTES_PER_PAIR * setting.processes * setting.processes
  return new Map(
    algorithm
      .regions(setting)
      .filter(({ at }) => at?.includes(memory) ?? true)
      .map((rule) => [
        rule.name,
        {
          rule: { ...rule, registers: rule.registers * rounds },
          registers: rule.registers,
          cell: new CellLayout(textBytesMax, rule.once === true ? 1 : 2, algorithm.failures === 'byzantine'),
        },
      ]),
  )
}
