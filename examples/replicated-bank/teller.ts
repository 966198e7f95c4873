/** A process of the bank: some clients of its own, who move money until it is told to stop. */
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'aether-dsm'
import { replicate } from 'aether-dsm/consensus'
import { Bank } from './bank.ts'

/** What a teller tells who started it. */
export type TellerMessage =
  /** It has the bank; `found`: how many transfers it holds. */
  | { readonly type: 'open'; readonly found: number }
  /** It leads from now on. */
  | { readonly type: 'leads' }
  /** How many of its transfers were confirmed, and how many refused. */
  | { readonly type: 'confirmed'; readonly confirmed: number; readonly refused: number }
  /** Its clients have stopped. */
  | { readonly type: 'stopped' }
  /** What it has at the end. */
  | { readonly type: 'closed'; readonly sum: number; readonly transfers: Bank['transfers']; readonly hash: string }

const CLIENTS = 4
const say = (message: TellerMessage) => process.send?.(message)

const [name = 'bank', teller = 'teller'] = process.argv.slice(2)
await using group = await join({ name })
await using bank = await replicate(group, { name: 'bank', machine: () => new Bank() })

let confirmed = 0
let refused = 0
let isOver = false

async function client(): Promise<void> {
  const { length } = await bank.query(({ balances }) => balances)
  const below = (bound: number) => Math.floor(Math.random() * bound)
  while (!isOver) {
    try {
      await bank.propose({ teller, from: below(length), to: below(length), amount: 1 + below(50) })
      confirmed += 1
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_AETHER_CONSENSUS_REJECTED') throw error
      refused += 1
    }
    say({ type: 'confirmed', confirmed, refused })
    await sleep(1)
  }
}

const found = await bank.query(({ transfers }) => Object.values(transfers).reduce((sum, count) => sum + count, 0))
say({ type: 'open', found })

const watched = (async () => {
  for await (const { isSelf } of bank.leadership()) if (isSelf) say({ type: 'leads' })
})()
const closing = new Promise<void>((resolve) => {
  process.on('message', (order) => {
    if (order === 'stop') isOver = true
    else resolve()
  })
})
await Promise.all(Array.from({ length: CLIENTS }, client))
say({ type: 'stopped' })

// When all have stopped, each says what it has.
await closing
const { sum, transfers } = await bank.query((machine) => ({ sum: machine.sum, transfers: { ...machine.transfers } }))
say({ type: 'closed', sum, transfers, hash: (await bank.status()).hash })
await bank.close()
await watched
process.disconnect?.()
