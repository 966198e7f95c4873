/** Reads that the addon answers out of records: as the ones that are looked at one by one. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import fc from 'fast-check'
import { lookedAt } from '../../../src/index-service/looked.ts'
import { RecordLooks } from '../../../src/index-service/memory/record-looks.ts'
import { RecordTable } from '../../../src/index-service/memory/record-table.ts'
import { packHead, RecordKeys, RecordType } from '../../../src/index-service/state/record-format.ts'

const keys = new RecordKeys()

function bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

/** A table of strings, hashes and values of other types, by a database each. */
class Written implements Disposable {
  readonly table = new RecordTable(7)
  readonly looks = new RecordLooks(this.table.chunks)

  put(key: string, type: number, { db = 0, expireAtMs = 0, value = '' } = {}): void {
    const record = Buffer.alloc(17 + value.length)
    packHead(record, type, { version: 1, expireAtMs })
    record.write(value, 17, 'latin1')
    this.table.set(keys.ofKey(bytes(key), this.table.spaceOf(db)), record)
  }

  putField(key: string, field: string, value: string, db = 0): void {
    this.table.set(keys.ofField(bytes(key), bytes(field), this.table.spaceOf(db)), bytes(value))
  }

  /** What is answered: how many bytes of the requests, and the replies. */
  ask(requests: string, { db = 0, protocol = 2 as 2 | 3, room = 65_536 } = {}): readonly [number, string] {
    const replies = Buffer.alloc(room)
    const answered = this.looks.answer(bytes(requests), replies, { db, protocol })
    return [answered, replies.toString('latin1', 0, this.looks.replyBytes)]
  }

  [Symbol.dispose](): void {
    this.table.close()
  }
}

function request(...words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`
}

function bulk(value: string | undefined): string {
  return value === undefined ? '$-1\r\n' : `$${value.length}\r\n${value}\r\n`
}

test('strings and fields are answered; what is not there, or has expired, is nothing', () => {
  using written = new Written()
  written.put('a', RecordType.String, { value: 'one' })
  written.put('empty', RecordType.String)
  written.put('later', RecordType.String, { value: 'x', expireAtMs: Date.now() + 3_600_000 })
  written.put('past', RecordType.String, { value: 'x', expireAtMs: Date.now() - 1 })
  written.put('h', RecordType.Hash)
  written.putField('h', 'f', 'value')
  written.put('gone', RecordType.Hash, { expireAtMs: 1 })
  written.putField('gone', 'f', 'value')
  const asked = ['a', 'empty', 'later', 'past', 'none'].map((key) => request('GET', key)).join('')
  assert.deepEqual(written.ask(asked), [
    asked.length,
    `${bulk('one')}${bulk('')}${bulk('x')}${bulk(undefined)}${bulk(undefined)}`,
  ])
  assert.equal(written.looks.gets, 5)
  const fields = [
    request('hget', 'h', 'f'),
    request('HGET', 'h', 'g'),
    request('Hget', 'gone', 'f'),
    request('hget', 'x', 'f'),
  ]
  assert.deepEqual(written.ask(fields.join(''), { protocol: 3 }), [
    fields.join('').length,
    `${bulk('value')}_\r\n_\r\n_\r\n`,
  ])
  assert.deepEqual([written.looks.gets, written.looks.fieldGets], [0, 4])
})

test('it stops before what is another request, not whole, of another type, or without room', () => {
  using written = new Written()
  written.put('a', RecordType.String, { value: 'x'.repeat(100) })
  written.put('list', RecordType.List)
  written.put('h', RecordType.Hash)
  const get = request('get', 'a')
  const stops = [
    ...[request('set', 'a', 'b'), request('get', 'list'), request('hget', 'a', 'f'), request('get', 'h')],
    ...[
      request('get'),
      request('get', 'a', 'b'),
      request('hget', 'h', 'f', 'g'),
      request('getx', 'a'),
      request('\0get', 'a'),
    ],
    ...['get a\r\n', '*2\r\n$03\r\nget\r\n$1\r\na\r\n', '*2\n$3\nget\n$1\na\n', '*2\r\n$3\r\nget\r\n$-1\r\n'],
    ...['*0\r\n', '\r\n', '*2\r\n+get\r\n$1\r\na\r\n', request('get', 'k'.repeat(2000)), request('g\x05t', 'a')],
    ...Array.from({ length: get.length }, (_, length) => get.slice(0, length)),
  ]
  for (const stop of stops)
    assert.deepEqual(
      written.ask(`${get}${stop}${get}`)[0],
      stop === '' ? 2 * get.length : get.length,
      JSON.stringify(stop),
    )
  assert.equal(written.ask(get.repeat(10), { room: 500 })[0], 4 * get.length)
  assert.deepEqual(written.ask(get, { room: 0 }), [0, ''])
})

test('databases are apart, and what is swapped is', () => {
  using written = new Written()
  written.put('a', RecordType.String, { value: 'zero' })
  written.put('a', RecordType.String, { value: 'five', db: 5 })
  const get = request('get', 'a')
  assert.equal(written.ask(get, { db: 5 })[1], bulk('five'))
  assert.equal(written.ask(get, { db: 6 })[1], bulk(undefined))
  written.table.swapSpaces(0, 5)
  assert.equal(written.ask(get)[1], bulk('five'))
})

test('in a table that grows and is cleaned, each key has its last value', () => {
  using written = new Written()
  const values = new Map<string, string>()
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(20_000), fc.nat(3000)), { minLength: 1500, maxLength: 2000 }),
      fc.array(fc.nat(20_000), { minLength: 50, maxLength: 50 }),
      (changes, asked) => {
        for (const [number, length] of changes) {
          const value = `${length}`.padEnd(length, '.')
          written.put(`key:${number}`, RecordType.String, { value })
          values.set(`key:${number}`, value)
        }
        for (const number of asked) {
          const key = `key:${number}`
          const get = request('GET', key)
          assert.deepEqual(written.ask(get), [get.length, bulk(values.get(key))])
          const looked = lookedAt(written.table.get(keys.ofKey(bytes(key), written.table.spaceOf(0))))
          assert.ok(looked === null || looked instanceof Uint8Array)
          assert.equal(looked === null ? undefined : Buffer.from(looked).toString('latin1'), values.get(key))
        }
      },
    ),
    { numRuns: 30 },
  )
  assert.ok(written.table.chunks.length > 1)
})
