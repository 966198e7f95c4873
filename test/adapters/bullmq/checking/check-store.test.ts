/** What a check says of BullMQ's queues: whole ones, those of killed processes, and damaged ones. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { aetherBackend } from '../../../../src/adapters/bullmq/index.ts'
import type { Store } from '../../../../src/adapters/bullmq/store/store.ts'
import { UndoMemory } from '../../../../src/adapters/bullmq/store/undo-memory.ts'
import { checkStore } from '../../../../src/adapters/index.ts'
import { open } from '../../../../src/public/index.ts'
import { Random } from '../../../../src/runtime/index.ts'
import { checkDirectory } from '../../../../src/saving/index.ts'
import { aether } from '../../../cli/command-line.ts'
import { useRuntimeDirectory } from '../../../cluster/support.ts'
import { job, programs } from '../programs.ts'
import { Side } from '../sides.ts'
import { vitalStoreWords } from './vital-store-words.ts'
import { assertWhole, copyOf, LAST_EPOCH, withStore } from './whole-store.ts'

useRuntimeDirectory()
const SEED = Number(process.env['AETHER_TEST_SEED'] ?? Date.now() % 2 ** 31)
const WORDS = Number(process.env['AETHER_TEST_WORDS'] ?? 200)
console.log(`AETHER_TEST_SEED=${SEED} repeats it`)
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-check-store-')))
after(() => rmSync(scratch, { recursive: true }))
/** More than a table looks through one by one, and than its first segment has buckets for. */
const JOBS = 300

/** Run every program, each in a queue of its own; `each` is called with the store before and after. */
async function play(space: string, each: (store: Store, when: string) => void): Promise<void> {
  for (const [at, [name, program]] of Object.entries(programs).entries()) {
    await using side = new Side('aether', space)
    await side.backend('first').waitUntilReady()
    await withStore(space, async (store) => {
      each(store, `before '${name}'`)
      await program(side, `queue-${at}`)
      each(store, `after '${name}'`)
    })
  }
}

/** Have the store looked at again and again in the middle of a transaction, as if its process were killed there. */
function lookInside(store: Store, looked: () => void): void {
  const { memory } = store
  const keep = memory.keep.bind(memory)
  const random = new Random(SEED)
  let left = 0
  memory.keep = (at) => {
    left -= 1
    if (left >= 0) return keep(at)
    assertWhole(store, 'before a word is logged')
    keep(at)
    assertWhole(store, 'after a word is logged')
    left = random.below(400)
    looked()
  }
}

let played: Promise<Uint8Array> | undefined

/** What all programs and many jobs leave. */
function playedStore(): Promise<Uint8Array> {
  const leave = async (): Promise<Uint8Array> => {
    await using _space = await open('played')
    const known = new WeakSet<Store>()
    let looks = 0
    await play('played', (store, when) => {
      if (!known.has(store)) lookInside(store, () => (looks += 1))
      known.add(store)
      assertWhole(store, when)
    })
    assert.ok(looks > 20, `${looks} looks`)
    const queue = aetherBackend('played')('many', { connection: {} } as never)
    for (let at = 0; at < JOBS; at += 1) await queue.addJob(job(`job ${at}`, { priority: at % 7 }), '')
    const bytes = await withStore('played', copyOf)
    await queue.close()
    return bytes
  }
  played ??= leave()
  return played
}

/** Nothing is undone in it, so it stays as it is. */
function isFound(bytes: Uint8Array): boolean {
  return checkStore(bytes, LAST_EPOCH).damaged.length > 0
}

test('what programs leave is whole, and all in use is reached, if they are killed at any word, too', async () => {
  const { structures, entries, damaged } = checkStore(await playedStore(), LAST_EPOCH)
  assert.deepEqual(damaged, [])
  assert.ok(structures > Object.keys(programs).length && entries > JOBS, `${structures} queues, ${entries} jobs`)
})

test('no turned bit goes unseen in a word that holds the queues together', async (t) => {
  const random = new Random(SEED)
  const bytes = await playedStore()
  const vital = vitalStoreWords(new UndoMemory(bytes))
  const words = new Int32Array(bytes.buffer)
  for (let at = 0; at < WORDS; at += 1) {
    const { offset, bits, what, isAsGood } = vital[random.below(vital.length)]!
    let bit = 0
    while ((bit & bits) === 0) bit = 1 << random.below(32)
    words[offset / 4]! ^= bit
    assert.ok(isFound(bytes) || isAsGood?.() === true, `${what} at byte ${offset}, bit ${Math.log2(bit >>> 0)}`)
    words[offset / 4]! ^= bit
  }
  t.diagnostic(`${WORDS} of ${vital.length} words, all found`)
})

test('whatever words are damaged, a check ends, and says what it has found', async (t) => {
  const random = new Random(SEED)
  const bytes = await playedStore()
  const whole = new Int32Array(bytes.buffer).slice()
  const words = new Int32Array(bytes.buffer)
  const vital = vitalStoreWords(new UndoMemory(bytes)).map(({ offset }) => offset / 4)
  let found = 0
  for (let round = 0; round < WORDS; round += 1) {
    for (let left = 1 + random.below(20); left > 0; left -= 1) {
      const at = random.below(2) === 0 ? vital[random.below(vital.length)]! : random.below(400)
      words[at] = random.below(2) === 0 ? words[at]! ^ (1 << random.below(32)) : random.uint32() | 0
    }
    if (isFound(bytes)) found += 1
    words.set(whole)
  }
  assert.ok(found > WORDS / 2)
  t.diagnostic(`found ${found} of ${WORDS}`)
})

test('in a directory, the queue that is damaged is named', async () => {
  const directory = join(scratch, 'shop')
  {
    await using _space = await open('shop', { directory })
    const queue = aetherBackend('shop', { size: '1MiB' })('mails', { connection: {} } as never)
    for (let at = 0; at < 20; at += 1) await queue.addJob(job(`job ${at}`), `id-of-${at}`)
    await queue.close()
  }
  const whole = await checkDirectory(directory, checkStore)
  assert.deepEqual([whole.damaged, whole.omitted], [[], []])
  assert.ok(whole.structures >= 2 && whole.records >= 20)
  const file = join(directory, 'aether.arena')
  const arena = readFileSync(file)
  const at = arena.indexOf('id-of-11', 0x4000000)
  arena[at] = 0x49
  writeFileSync(file, arena)
  assert.deepEqual((await checkDirectory(directory, checkStore)).damaged, [
    {
      region: 'bullmq',
      structure: 'bull:mails',
      kind: 'queue of BullMQ',
      reason: 'the hash of an entry is not that of its key',
    },
  ])
  const { status, stdout } = aether('space', 'check', directory)
  assert.equal(status, 1)
  assert.match(stdout, /damaged: 'bull:mails' in region 'bullmq': queue of BullMQ: the hash of an entry/)
})
