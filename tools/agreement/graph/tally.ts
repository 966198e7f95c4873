/** The values of one stage, by the process that each belongs to: what a process has heard of it. */
export class Tally {
  readonly values: (string | null)[]

  constructor(processes: number) {
    this.values = new Array<string | null>(processes).fill(null)
  }

  add(values: readonly (readonly [process: number, value: string])[]): void {
    for (const [process, value] of values) this.values[process] = value
  }

  /** How many processes are represented. */
  get represented(): number {
    return this.values.filter((value) => value !== null).length
  }

  count(value: string): number {
    return this.values.filter((each) => each === value).length
  }
}
