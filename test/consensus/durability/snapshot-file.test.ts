import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { LogDirectory } from '../../../src/consensus/durability/log-directory.ts'
import {
  readSnapshotFile,
  type StoredSnapshot,
  writeSnapshotFile,
} from '../../../src/consensus/durability/snapshot-file.ts'
import { foundingConfiguration } from '../../../src/consensus/replica/configuration.ts'
import { newDirectory, whileFailing } from './logs.ts'

function snapshot(index: number, text = `snapshot ${index}`): StoredSnapshot {
  const configuration = foundingConfiguration([1, 2 ** 48 - 1, 3])
  return { head: { index, term: 2 ** 32 - 1, configuration, promise: 7 }, bytes: Buffer.from(text) }
}

const plain = (stored: StoredSnapshot | undefined) =>
  stored && { ...stored, bytes: Buffer.from(stored.bytes).toString() }

test('a snapshot is replaced as a whole and read with its head', async () => {
  await using directory = await LogDirectory.open(newDirectory())
  assert.equal(await readSnapshotFile(directory), undefined)
  for (const stored of [snapshot(1), snapshot(2 ** 48 - 1), snapshot(5, ''), snapshot(6, 'x'.repeat(1_000_000))]) {
    await writeSnapshotFile(directory, stored)
    assert.deepEqual(plain(await readSnapshotFile(directory)), plain(stored))
  }
  assert.deepEqual(readdirSync(directory.path).sort(), ['lock', 'snapshot'])
})

test('a snapshot that was cut or changed at any byte is damaged, and stays as it is', async () => {
  await using directory = await LogDirectory.open(newDirectory())
  await writeSnapshotFile(directory, snapshot(3))
  const file = join(directory.path, 'snapshot')
  const whole = readFileSync(file)
  const second = 12 + whole.readUInt32LE(4)
  const isDamaged = (at: number) => ({
    code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED',
    file,
    offset: at < second ? 0 : second,
  })
  for (let at = 0; at < whole.length; at += 1) {
    writeFileSync(file, whole.subarray(0, at))
    await assert.rejects(readSnapshotFile(directory), isDamaged(at), `${at} bytes`)
    for (const change of [0x01, 0xff]) {
      const bytes = Buffer.from(whole)
      bytes[at]! ^= change
      writeFileSync(file, bytes)
      await assert.rejects(readSnapshotFile(directory), isDamaged(at), `byte ${at}`)
      assert.ok(readFileSync(file).equals(bytes))
    }
  }
  await writeSnapshotFile(directory, snapshot(4))
  assert.deepEqual(plain(await readSnapshotFile(directory)), plain(snapshot(4)))
})

test('a snapshot that could not be written leaves the older one, and no other file', async () => {
  for (const [call, code, from, expected] of [
    ['write', 'ENOSPC', 2, 'FULL'],
    ['write', 'EIO', 1, 'FAILED'],
    ['sync', 'EIO', 1, 'FAILED'],
    ['sync', 'EIO', 2, 'FAILED'],
  ] as const) {
    await using directory = await LogDirectory.open(newDirectory())
    const file = join(directory.path, 'snapshot')
    await writeSnapshotFile(directory, snapshot(1))
    const older = readFileSync(file)
    const isRefused = { code: `ERR_AETHER_CONSENSUS_LOG_${expected}` }
    const write = () => writeSnapshotFile(directory, snapshot(2))
    await whileFailing(call, code, () => assert.rejects(write(), isRefused), from)
    const isNew = !readFileSync(file).equals(older)
    // The second sync is that of the directory: the new one has its name by then.
    assert.equal(isNew, from === 2 && call === 'sync', `${call} ${from}`)
    assert.deepEqual(readdirSync(directory.path).sort(), ['lock', 'snapshot'])
    if (expected === 'FULL') await write()
    else await assert.rejects(write(), isRefused)
  }
})
