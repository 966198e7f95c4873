/** What a liar writes so that correct processes fail at it, or cannot copy it: they take it for nothing. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { NonEquivocatingBroadcast } from '../../../../tools/agreement/byzantine/broadcast.ts'
import { CheapQuorum } from '../../../../tools/agreement/byzantine/cheap-quorum.ts'
import { PreferentialPaxos } from '../../../../tools/agreement/byzantine/preferential-paxos.ts'
import { parseData } from '../../../../tools/agreement/model/data-text.ts'
import type { Acts, Data, Register } from '../../../../tools/agreement/model/process.ts'
import { IdealSignatures } from '../../../../tools/agreement/play/signatures.ts'
import { makeKeys, PrivateKey, PublicKeys } from '../../../../tools/agreement/real/identity.ts'
import { CellLayout, encodeCell } from '../../../../tools/agreement/real/register-cell.ts'

const setting = { processes: 3, memories: 1 }

/** What a process does, in a list. */
class Recorder {
  readonly done: {
    readonly what: string
    readonly tag: string
    readonly register?: Register
    readonly value?: Data
  }[] = []
  readonly sent: Data[] = []
  readonly #signatures: IdealSignatures
  readonly #me: number

  constructor(me: number, signatures: IdealSignatures) {
    this.#me = me
    this.#signatures = signatures
  }

  get acts(): Acts {
    return {
      now: 0,
      send: (_, message) => this.sent.push(message),
      write: (_, register, value, tag) => this.done.push({ what: 'write', register, value, tag }),
      read: (_, _registers, tag) => this.done.push({ what: 'read', tag }),
      claim: () => assert.fail(),
      permit: (_, _region, _writers, tag) => this.done.push({ what: 'permit', tag }),
      wake: () => undefined,
      flip: () => false,
      sign: (text) => this.#signatures.sign(this.#me, text),
      verify: (process, text, signature) => this.#signatures.verify(process, text, signature),
      decide: () => undefined,
      elect: () => undefined,
    }
  }
}

test('a text counts only as JSON.stringify has it: flat, and without fields that change objects', () => {
  for (const data of [null, 1, 'a', [1, ['b']], { a: { b: [] } }] as const)
    assert.deepEqual(parseData(JSON.stringify(data)), data)
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
  for (const text of [
    '',
    '{',
    deep,
    '[1, 2]',
    '1e2',
    '{"a":1,"a":2}',
    '"\\u0061"',
    '{"__proto__":{"a":1}}',
    `[${deep}]`,
  ])
    assert.equal(parseData(text), undefined, text.slice(0, 20))
})

test('what is nested too deep for others is not written', () => {
  let value: Data = 'a'
  for (let depth = 0; depth < 100; depth += 1) value = [value]
  assert.equal(encodeCell(value, 1, new CellLayout(1000, 1)), undefined)
})

test('a signature counts only in the form in which it was made: with more behind it, it could not be copied', () => {
  const { publicKey, privateKey } = makeKeys()
  const keys = new PublicKeys([publicKey])
  const signature = new PrivateKey(privateKey).sign('text')
  assert.ok(keys.verify(0, 'text', signature))
  for (const other of [`${signature}x`, ` ${signature}`, signature.slice(0, -2), signature.replace('=', '==')])
    assert.equal(keys.verify(0, 'text', other), false, other)
  assert.equal(keys.verify('0' as unknown as number, 'text', signature), false)
})

test('a value that is too long to be proved is not copied, though the leader has signed it', () => {
  for (const [value, copies] of [
    ['short', true],
    ['x'.repeat(3000), false],
  ] as const) {
    const signatures = new IdealSignatures()
    const recorder = new Recorder(1, signatures)
    const quorum = new CheapQuorum(1, setting)
    quorum.begin('own', recorder.acts)
    const { tag } = recorder.done.pop()!
    const leader = { value, leader: signatures.sign(0, `value ${value}`) }
    const values = [leader, ...new Array<null>(9).fill(null)]
    quorum.step({ type: 'answer', memory: 0, tag, ok: true, values }, recorder.acts)
    assert.equal(
      recorder.done.some(({ what }) => what === 'write'),
      copies,
    )
  }
  assert.throws(
    () => new CheapQuorum(0, setting).begin('x'.repeat(200), new Recorder(0, new IdealSignatures()).acts),
    RangeError,
  )
})

test('nor is such a value taken from what others propose in the backup', () => {
  const recorder = new Recorder(0, new IdealSignatures())
  const paxos = new PreferentialPaxos(0, setting, ({ value }) => value.length)
  paxos.step({ type: 'begin', input: JSON.stringify({ value: 'own', proof: null }) }, recorder.acts)
  const setup = { value: 'x'.repeat(3000), proof: null }
  paxos.step({ type: 'message', from: 1, message: { setup } }, recorder.acts)
  const values = recorder.sent.flatMap((each) =>
    (each as { say?: string }).say === 'accept' ? [(each as { value: Data }).value] : [],
  )
  assert.deepEqual(values, ['own', 'own'])
})

test('a message whose witness does not fit a register is not delivered: the others could not learn of it', () => {
  for (const ok of [true, false]) {
    const signatures = new IdealSignatures()
    const recorder = new Recorder(1, signatures)
    const broadcast = new NonEquivocatingBroadcast(1, setting)
    const { acts } = recorder
    const registers: Data[] = new Array<Data>(64 * 3 * 3).fill(null)
    const signature = signatures.sign(0, 'message 0 0 "m"')
    const copies = [0, 2].map((process) => [process, signatures.sign(process, `copy 0 0 ${signature}`)] as const)
    const proofs = [0, 2].map((process) => {
      const proved = signatures.sign(process, `proof 0 0 ${signature}`)
      return [process, { message: 'm', signature, copies, proved }] as const
    })
    broadcast.start(acts)
    const answer = (values: readonly Data[], isDone = true) =>
      broadcast.hear({ type: 'answer', memory: 0, tag: recorder.done.pop()!.tag, ok: isDone, values }, acts)
    // Of three senders in turn: the copy of the sender, and the witnesses of all.
    const witness = { message: 'm', signature, proofs } as unknown as Data
    const seen = [null, witness, null, null, ...registers.slice(0, 8)]
    assert.deepEqual(answer(seen), [])
    const delivered = answer([], ok)
    assert.deepEqual(delivered, ok ? [{ from: 0, number: 0, message: 'm' }] : [])
  }
})
