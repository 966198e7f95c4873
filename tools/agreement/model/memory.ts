import type { Data, Register } from './process.ts'

/** A region of every memory, and who may do what with it. */
export interface RegionRule {
  readonly name: string
  readonly registers: number
  /** The processes that may write at the beginning. */
  readonly writers: readonly number[]
  /** The processes that may read; all if it is left out. */
  readonly readers?: readonly number[]
  /**
   * The changes of permission that a memory carries out (`legalChange` in PODC'19, section 3). With `take` a process
   * may make itself the only writer. With `revoke` it may see to it that no one writes from now on.
   */
  readonly changes: 'none' | 'take' | 'revoke'
  /** A correct process writes each register once. */
  readonly once?: true
  /** The memories that have it; all of them if it is left out. */
  readonly at?: readonly number[]
}

/** An operation as a memory gets it. */
export type MemoryOperation =
  | { readonly do: 'write'; readonly register: Register; readonly value: Data }
  | { readonly do: 'read'; readonly registers: readonly Register[] }
  | { readonly do: 'claim'; readonly register: Register; readonly value: Data }
  | { readonly do: 'permit'; readonly region: string; readonly writers: readonly number[] }

export interface MemoryAnswer {
  readonly ok: boolean
  readonly values: readonly Data[]
}

const refused: MemoryAnswer = { ok: false, values: [] }
const done: MemoryAnswer = { ok: true, values: [] }

/** True if a memory carries out that change of permission, asked for by `process`. */
function isLegalChange(rule: RegionRule, process: number, writers: readonly number[]): boolean {
  if (rule.changes === 'take') return writers.length === 1 && writers[0] === process
  return rule.changes === 'revoke' && writers.length === 0
}

/** A memory of the model: regions of registers, with permissions that it holds everyone to. */
export class Memory {
  readonly rules: Readonly<Record<string, RegionRule>>
  readonly writers: Record<string, readonly number[]> = {}
  readonly registers: Record<string, Data[]> = {}

  constructor(rules: readonly RegionRule[]) {
    // Without a prototype: `constructor` is no region.
    this.rules = Object.assign(Object.create(null), Object.fromEntries(rules.map((rule) => [rule.name, rule])))
    for (const { name, registers, writers } of rules) {
      this.writers[name] = writers
      this.registers[name] = new Array<Data>(registers).fill(null)
    }
  }

  perform(process: number, operation: MemoryOperation): MemoryAnswer {
    switch (operation.do) {
      case 'write':
        if (!this.mayWrite(process, operation.register)) return refused
        this.registers[operation.register.region]![operation.register.index] = operation.value
        return done
      case 'claim': {
        const { register, value } = operation
        if (!this.mayWrite(process, register)) return refused
        const cells = this.registers[register.region]!
        const before = cells[register.index]!
        if (before === null) cells[register.index] = value
        return { ok: true, values: [before] }
      }
      case 'read':
        if (operation.registers.some((register) => !this.mayRead(process, register))) return refused
        return { ok: true, values: operation.registers.map(({ region, index }) => this.registers[region]![index]!) }
      case 'permit': {
        const rule = this.rules[operation.region]
        if (rule === undefined || !isLegalChange(rule, process, operation.writers)) return refused
        this.writers[operation.region] = operation.writers
        return done
      }
    }
  }

  private mayWrite(process: number, register: Register): boolean {
    return this.exists(register) && this.writers[register.region]!.includes(process)
  }

  private mayRead(process: number, register: Register): boolean {
    return this.exists(register) && (this.rules[register.region]!.readers?.includes(process) ?? true)
  }

  private exists({ region, index }: Register): boolean {
    const rule = this.rules[region]
    return rule !== undefined && Number.isSafeInteger(index) && index >= 0 && index < rule.registers
  }
}
