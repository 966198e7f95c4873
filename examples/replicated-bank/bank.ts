import type { ReplicatedMachine } from 'aether-dsm/consensus'

export interface Transfer {
  /** The process that ordered it. */
  readonly teller: string
  readonly from: number
  readonly to: number
  readonly amount: number
}

const ACCOUNTS = 10
const OPENING_BALANCE = 100

/** The same in every process. It has no clock and no randomness, so that all go on alike. */
export class Bank implements ReplicatedMachine<Transfer, number> {
  balances: number[] = Array<number>(ACCOUNTS).fill(OPENING_BALANCE)
  /** How many transfers of each teller took place. */
  transfers: Record<string, number> = {}

  get sum(): number {
    return this.balances.reduce((sum, balance) => sum + balance, 0)
  }

  /** Returns what is left. What is thrown is the answer, too: nothing may be changed before. */
  apply({ teller, from, to, amount }: Transfer): number {
    if (this.balances[from]! < amount) throw new RangeError(`account ${from} has only ${this.balances[from]}`)
    this.balances[from]! -= amount
    this.balances[to]! += amount
    this.transfers[teller] = (this.transfers[teller] ?? 0) + 1
    return this.balances[from]!
  }

  snapshot(): Iterable<Uint8Array> {
    return [Buffer.from(JSON.stringify([this.balances, this.transfers]))]
  }

  restore([chunk]: readonly Uint8Array[]): void {
    ;[this.balances, this.transfers] = JSON.parse(Buffer.from(chunk!).toString())
  }
}
