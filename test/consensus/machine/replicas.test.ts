/** Streams of entries drawn from seeds, against a plain model, and replicas that were restored on the way. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import type { Outcome } from '../../../src/consensus/machine/outcome.ts'
import { type CommandName, RecordWriter } from '../../../src/consensus/machine/records.ts'
import { restoreSnapshot, takeSnapshot } from '../../../src/consensus/machine/snapshot.ts'
import { Random } from '../../../src/runtime/index.ts'
import { encoded, journalApplier, type Told } from './journal.ts'

const SESSION_MS = 1000
const SEEDS = 150
const ENTRIES = 200

type Sent =
  | { readonly type: 'begin' }
  | ({ readonly type: 'fragment'; readonly part: number; readonly bytes: Uint8Array } & CommandName)
  | ({ readonly type: 'command'; readonly acknowledged: number; readonly parts: number } & CommandName & {
        readonly bytes: Uint8Array
      })

/** The rules as they are told: everything is kept, and searched. */
class Model {
  readonly lines: string[] = []
  #timeMs = 0
  #sessions: { id: number; lastMs: number; acknowledged: number; applied: Map<number, Outcome['kind']> }[] = []
  #fragments: (CommandName & { bytes: Uint8Array[] })[] = []

  entry(records: readonly Sent[], timeMs: number, term: number): string[] {
    this.#timeMs = Math.max(this.#timeMs, timeMs)
    const isAlive = ({ lastMs }: { lastMs: number }) => this.#timeMs - lastMs < SESSION_MS
    const gone = this.#sessions.filter((session) => !isAlive(session)).map(({ id }) => id)
    this.#sessions = this.#sessions.filter(isAlive)
    this.#fragments = this.#fragments.filter(({ session }) => !gone.includes(session))
    return records.flatMap((record) => this.#record(record, term) ?? [])
  }

  #record(record: Sent, term: number): string | undefined {
    if (record.type === 'begin') {
      this.#fragments = []
      return undefined
    }
    const session = this.#sessions.find(({ id }) => id === record.session)
    if (session !== undefined) session.lastMs = this.#timeMs
    if (record.type === 'fragment') {
      if (session === undefined ? record.sequence === 1 : !session.applied.has(record.sequence)) this.#fragment(record)
      return undefined
    }
    return this.#command(record, term)
  }

  #fragment(record: Sent & { type: 'fragment' }): void {
    const known = this.#take(record)
    const bytes = record.part === 0 ? [] : (known?.bytes ?? [])
    if (bytes.length === record.part) this.#fragments.push({ ...record, bytes: [...bytes, record.bytes] })
  }

  #take({ session, sequence }: CommandName): { bytes: Uint8Array[] } | undefined {
    const found = this.#fragments.find((one) => one.session === session && one.sequence === sequence)
    this.#fragments = this.#fragments.filter((one) => one !== found)
    return found
  }

  #command(record: Sent & { type: 'command' }, term: number): string | undefined {
    const before = this.#take(record)?.bytes ?? []
    const name = `${record.session}/${record.sequence}`
    let session = this.#sessions.find(({ id }) => id === record.session)
    if (session === undefined && record.sequence > 1) return `${name} expired`
    if (session === undefined) {
      session = { id: record.session, lastMs: this.#timeMs, acknowledged: 0, applied: new Map() }
      this.#sessions.push(session)
    }
    const { applied } = session
    let prefix = 0
    while (applied.has(prefix + 1)) prefix += 1
    session.acknowledged = Math.max(session.acknowledged, Math.min(record.acknowledged, prefix))
    if (applied.has(record.sequence))
      return `${name} ${record.sequence <= session.acknowledged ? 'acknowledged' : applied.get(record.sequence)}`
    if (record.parts > 0 && before.length !== record.parts) return undefined
    const whole = Buffer.concat([...(record.parts > 0 ? before : []), record.bytes]).toString()
    const command = JSON.parse(whole) as { text: string; throw?: boolean }
    this.lines.push(`${this.lines.length + 1} ${this.#timeMs} ${term} ${command.text}`)
    applied.set(record.sequence, command.throw === true ? 'error' : 'answer')
    return `${name} ${applied.get(record.sequence)}`
  }
}

/** A proposer: it sends again what it has no answer of, in any order, and at times what it has. */
class Proposer {
  #random: Random
  #session: number
  #answered = new Set<number>()
  #sequence = 0

  constructor(random: Random, session: number) {
    this.#random = random
    this.#session = session
  }

  hear({ session, sequence, outcome }: Told): void {
    if (session !== this.#session) return
    if (outcome.kind !== 'expired') this.#answered.add(sequence)
    else this.#renew()
  }

  send(): Sent[] {
    const random = this.#random
    if (random.below(60) === 0) this.#renew()
    if (this.#sequence === 0 || random.below(2) === 0) this.#sequence += 1
    const newest = Math.max(1, this.#sequence - random.below(6))
    let acknowledged = 0
    while (this.#answered.has(acknowledged + 1)) acknowledged += 1
    const name = { session: this.#session, sequence: newest }
    const text = `${name.session}/${name.sequence}${'!'.repeat((name.sequence * 7) % 40)}`
    const bytes = encoded(name.sequence % 7 === 0 ? { text, throw: true } : text)
    return this.#split(name, bytes, Math.min(acknowledged, newest - 1))
  }

  #renew(): void {
    this.#session += 1
    this.#sequence = 0
    this.#answered.clear()
  }

  #split(name: CommandName, bytes: Uint8Array, acknowledged: number): Sent[] {
    // The same each time that it is sent, as a proposer's entries are all of one size.
    const parts = Math.max(0, ((name.session + 5 * name.sequence) % 6) - 2)
    const sizeBytes = Math.floor(bytes.length / (parts + 1))
    const sent: Sent[] = Array.from({ length: parts }, (_, part) => ({
      ...name,
      type: 'fragment',
      part,
      bytes: bytes.subarray(part * sizeBytes, (part + 1) * sizeBytes),
    }))
    return [...sent, { ...name, type: 'command', acknowledged, parts, bytes: bytes.subarray(parts * sizeBytes) }]
  }
}

function payloadOfSent(records: readonly Sent[], writer: RecordWriter): Uint8Array {
  writer.reset()
  for (const record of records)
    if (record.type === 'begin') writer.begin({ term: 1, leader: 1 })
    else if (record.type === 'fragment') writer.fragment(record, record.bytes)
    else writer.command(record, record.bytes)
  return writer.bytes()
}

function run(seed: number, count: Map<string, number>): void {
  const random = new Random(seed)
  const proposers = Array.from({ length: 4 }, (_, at) => new Proposer(random, 2 ** 40 * (at + 1)))
  const model = new Model()
  const writer = new RecordWriter()
  const replica = journalApplier({ sessionMs: SESSION_MS })
  let other = journalApplier({ sessionMs: SESSION_MS })
  const waiting: Sent[] = []
  let term = 1
  let timeMs = 0
  for (let index = 1; index <= ENTRIES; index += 1) {
    for (let more = random.below(3); more > 0; more -= 1) waiting.push(...proposers[random.below(4)]!.send())
    // Faults of a change of leaders: something is lost, comes twice, or comes late.
    const fault = random.below(20)
    const at = random.below(waiting.length + 1)
    if (fault === 0) waiting.splice(at, 1)
    else if (fault === 1) waiting.splice(at, 0, ...waiting.slice(at, at + 1))
    else if (fault === 2) waiting.splice(at, 2, ...waiting.slice(at, at + 2).reverse())
    else if (fault === 3) {
      waiting.splice(at, 0, { type: 'begin' })
      term += 1
    }
    timeMs += random.below(40) === 0 ? SESSION_MS : random.below(60) - 5
    const records = waiting.splice(0, random.below(8))
    const entry = { index, term, timeMs, payload: payloadOfSent(records, writer) }
    const [before, otherBefore] = [replica.told.length, other.told.length]
    replica.applier.apply(entry)
    other.applier.apply(entry)
    const told = replica.told.slice(before)
    const where = `seed ${seed}, entry ${index}`
    const seen = told.map(({ session, sequence, outcome }) => `${session}/${sequence} ${outcome.kind}`)
    assert.deepEqual(seen, model.entry(records, timeMs, term), where)
    assert.deepEqual(other.told.slice(otherBefore), told, where)
    for (const line of seen) {
      const kind = line.split(' ')[1]!
      count.set(kind, (count.get(kind) ?? 0) + 1)
    }
    for (const one of told) for (const proposer of proposers) if (random.below(4) > 0) proposer.hear(one)
    if (random.below(30) === 0) {
      const next = journalApplier({ sessionMs: SESSION_MS })
      restoreSnapshot(next.applier, takeSnapshot(random.below(2) === 0 ? replica.applier : other.applier))
      other = next
    }
  }
  assert.deepEqual(replica.journal.lines, model.lines, `seed ${seed}`)
  assert.deepEqual(other.journal.lines, model.lines, `seed ${seed}`)
  assert.deepEqual(other.applier.hash, replica.applier.hash, `seed ${seed}`)
  assert.deepEqual(takeSnapshot(other.applier), takeSnapshot(replica.applier), `seed ${seed}`)
}

test('replicas follow the model, and one restored from a snapshot ends as the others do', () => {
  const count = new Map<string, number>()
  const first = Number(process.env['AETHER_TEST_SEED'] ?? Date.now() % 2 ** 30)
  console.log(`AETHER_TEST_SEED=${first}`)
  for (let seed = first; seed < first + SEEDS; seed += 1) run(seed, count)
  // What was drawn is what the test is about.
  for (const kind of ['answer', 'error', 'acknowledged', 'expired'])
    assert.ok((count.get(kind) ?? 0) > SEEDS, `${kind}: ${count.get(kind)}`)
  console.log([...count].map(([kind, times]) => `${times} ${kind}`).join(', '))
})
