/** Copies of shared memory that are handed out, and the hash of words that keys are found by. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { hashBytes, hashWords } from '../../src/codecs/hash.ts'
import { LocalMemory } from '../../src/structures/memory/local-memory.ts'

const lengths = [0, 1, 3, 4, 7, 8, 16, 31, 64, 255, 256, 257, 1000, 2048, 2049, 5000]

function filled(): { readonly memory: LocalMemory; readonly all: Uint8Array } {
  const all = new Uint8Array(new SharedArrayBuffer(16_384))
  for (let at = 0; at < all.length; at += 1) all[at] = at * 7 + (at >>> 8)
  return { memory: new LocalMemory(all), all }
}

test('a copy has the bytes that were there, whatever its length, and keeps them', () => {
  const { memory, all } = filled()
  const copies = lengths.flatMap((length) =>
    [64, 68, 65].map((offset) => ({ offset, copy: memory.copy(offset, length) })),
  )
  const wanted = copies.map(({ offset, copy }) => [...all.subarray(offset, offset + copy.length)])
  all.fill(0)
  for (const { copy } of copies) assert.ok(!(copy.buffer instanceof SharedArrayBuffer))
  assert.deepEqual(
    copies.map(({ copy }) => [...copy]),
    wanted,
  )
  assert.deepEqual(
    copies.map(({ copy }) => copy.length),
    lengths.flatMap((length) => [length, length, length]),
  )
})

test('copies do not touch each other, more of them than share a buffer, and begin where numbers may', () => {
  const { memory } = filled()
  const copies = Array.from({ length: 5000 }, (_, at) => memory.copy(0, 1 + (at % 40)))
  for (const [at, copy] of copies.entries()) copy.fill(at & 0xff)
  for (const [at, copy] of copies.entries()) assert.ok(copy.every((byte) => byte === (at & 0xff)))
  assert.ok(copies.every(({ byteOffset }) => byteOffset % 8 === 0))
  assert.ok(new Set(copies.map(({ buffer }) => buffer)).size < copies.length / 100, 'they share buffers')
})

test('a small copy cannot be transferred, which would take its neighbours along', () => {
  const { memory } = filled()
  const [one, other] = [memory.copy(0, 16), memory.copy(64, 16)]
  const { port1, port2 } = new MessageChannel()
  try {
    // Newer versions of Node refuse it, older ones copy instead.
    try {
      port1.postMessage(one, [one.buffer as ArrayBuffer])
    } catch (error) {
      assert.equal((error as Error).name, 'DataCloneError')
    }
    assert.deepEqual([one.length, other.length], [16, 16])
  } finally {
    port1.close()
    port2.close()
  }
})

test('words hash as their bytes do', () => {
  for (let length = 0; length < 70; length += 1) {
    const key = Uint8Array.from({ length: 72 }, (_, at) => (at < length ? (at * 151 + 200) & 0xff : 0))
    assert.equal(hashWords(new Int32Array(key.buffer), length, 77), hashBytes(key, length, 77), `${length} bytes`)
  }
})
