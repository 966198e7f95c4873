/** A rank that works on replicated state machines until it is killed: for pictures of the tab of machines. */
import { setTimeout as sleep } from 'node:timers/promises'

const { join } = await import('../../dist/src/public/index.js')
const { elect, replicate } = await import('../../dist/src/public/consensus.js')

class Accounts {
  balances = {}

  apply({ to, amount }) {
    this.balances[to] = (this.balances[to] ?? 0) + amount
    return this.balances[to]
  }

  snapshot() {
    return [Buffer.from(JSON.stringify(this.balances))]
  }

  restore([chunk]) {
    this.balances = JSON.parse(Buffer.from(chunk))
  }
}

const group = await join()
const open = (name) => replicate(group, { name, machine: () => new Accounts() })
const accounts = await open('accounts')
const stock = await open('stock')
const nightly = await elect(group, 'nightly-report')
void nightly.campaign()

async function work(machine, pauseMs) {
  for (let step = 0; ; step += 1) {
    await machine.propose({ to: `customer-${step % 50}`, amount: 1 })
    await sleep(pauseMs * (0.5 + Math.random()))
  }
}

await Promise.all([work(accounts, 10), work(accounts, 10), work(stock, 60)])
