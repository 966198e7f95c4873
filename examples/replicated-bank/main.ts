/**
 * A bank that several processes keep alike: each has all accounts and lets clients move money. While they do, the
 * process that leads is killed, and a new one is started, which catches up. Run it after `npm run build`:
 *
 *     node dist/examples/replicated-bank/main.js
 *
 * It prints what each process did. The exit status is 1 if a confirmed transfer or any money was lost.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { TellerMessage } from './teller.ts'

const SUM = 1000
const WORK_MS = 700

/** A process of the bank, seen from here. */
class Teller {
  readonly name: string
  readonly #child: ChildProcess
  readonly #heard = new Map<TellerMessage['type'], TellerMessage>()
  wasKilled = false

  constructor(name: string) {
    this.name = name
    this.#child = fork(fileURLToPath(new URL('./teller.js', import.meta.url)), [`bank-${process.pid}`, name])
    this.#child.on('message', (message: TellerMessage) => this.#heard.set(message.type, message))
  }

  /** What it said last of that kind. */
  heard<Type extends TellerMessage['type']>(type: Type): Extract<TellerMessage, { type: Type }> | undefined {
    return this.#heard.get(type) as Extract<TellerMessage, { type: Type }> | undefined
  }

  async says<Type extends TellerMessage['type']>(type: Type): Promise<Extract<TellerMessage, { type: Type }>> {
    for (;;) {
      const message = this.heard(type)
      if (message !== undefined) return message
      if (this.#child.exitCode !== null) throw new Error(`${this.name} has ended with ${this.#child.exitCode}`)
      await sleep(5)
    }
  }

  tell(order: 'stop' | 'close'): void {
    this.#child.send(order)
  }

  async kill(): Promise<void> {
    this.wasKilled = true
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }
}

const tellers = ['Ada', 'Bea', 'Cem'].map((name) => new Teller(name))
await Promise.all(tellers.map((teller) => teller.says('open')))
await sleep(WORK_MS)

const leader = tellers.find((teller) => teller.heard('leads') !== undefined)!
await leader.kill()
await sleep(WORK_MS)

const newcomer = new Teller('Dan')
tellers.push(newcomer)
const { found } = await newcomer.says('open')
await sleep(WORK_MS)

const living = tellers.filter(({ wasKilled }) => !wasKilled)
for (const teller of living) teller.tell('stop')
await Promise.all(living.map((teller) => teller.says('stopped')))
for (const teller of living) teller.tell('close')
const ends = await Promise.all(living.map((teller) => teller.says('closed')))
const [{ transfers, sum, hash }] = ends as [(typeof ends)[number]]

console.log('teller  confirmed  refused  in the bank')
let areThere = true
for (const teller of tellers) {
  const { confirmed = 0, refused = 0 } = teller.heard('confirmed') ?? {}
  const inBank = transfers[teller.name] ?? 0
  // What was confirmed last by one that was killed may not have been heard here; but all that was, is in the bank.
  areThere &&= teller.wasKilled ? inBank >= confirmed : inBank === confirmed
  const note = teller.wasKilled ? '  led, and was killed' : teller === newcomer ? `  came late, and found ${found}` : ''
  const columns = [teller.name.padEnd(6), String(confirmed).padStart(10), String(refused).padStart(8)]
  console.log(`${columns.join(' ')} ${String(inBank).padStart(12)}${note}`)
}
const areAlike = ends.every((end) => end.hash === hash && end.sum === sum)
const isRight = areThere && areAlike && sum === SUM
console.log(`sum ${sum}: ${isRight ? 'nothing was lost' : 'something is wrong'}`)
process.exitCode = isRight ? 0 : 1
