import { type DeterministicModel, deterministicModel } from './deterministic-model.ts'

/** What is done to the accounts of a bank. */
export type BankInput =
  | { readonly type: 'transfer'; readonly from: number; readonly to: number; readonly amount: number }
  | { readonly type: 'balance'; readonly account: number }
  | { readonly type: 'sum' }

/** More different balances than this are taken to contain every balance. */
const SUMS_MAX = 1000

/**
 * Accounts that no transfer overdraws, by their first balances. Outputs: 1 where a transfer was made, 0 where not; the
 * balance; the sum of all balances.
 */
export function bankModel(balances: readonly number[]): DeterministicModel<readonly number[], BankInput, number> {
  return deterministicModel<readonly number[], BankInput, number>({
    initial: balances,
    apply(state, input) {
      if (input.type === 'balance') return [state, state[input.account]!]
      if (input.type === 'sum') return [state, state.reduce((sum, balance) => sum + balance, 0)]
      const { from, to, amount } = input
      if (state[from]! < amount) return [state, 0]
      const after = [...state]
      after[from]! -= amount
      after[to]! += amount
      return [after, 1]
    },
    canFollow(state, { input, returned }, others) {
      if (input.type !== 'balance') return true
      const sums = new Set([state[input.account]! - returned!.output])
      for (const { input: other, returned: gave } of others) {
        if (other.type !== 'transfer' || other.from === other.to || gave?.output === 0) continue
        const change = other.to === input.account ? other.amount : other.from === input.account ? -other.amount : 0
        if (change === 0) continue
        for (const sum of [...sums]) sums.add(sum + change)
        if (sums.size > SUMS_MAX) return true
      }
      return sums.has(0)
    },
    commute: (one, other) => !accountsOf(one).some((account) => accountsOf(other).includes(account)),
    nameOf: (state) => state.join(' '),
    kindOf: ({ type }) => (type === 'transfer' ? 'other' : 'read'),
  })
}

/** The accounts that a call looks at or changes; the sum of all stays what it is. */
function accountsOf(input: BankInput): readonly number[] {
  if (input.type === 'sum') return []
  return input.type === 'balance' ? [input.account] : [input.from, input.to]
}
