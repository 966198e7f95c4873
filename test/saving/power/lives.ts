/** Lives of a space in a directory, whose machine may lose power after any call. */
// First: see there.
import './recorder.ts'

import assert from 'node:assert/strict'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { checkStore } from '../../../src/adapters/index.ts'
import { open, type Space, SpaceError } from '../../../src/public/index.ts'
import { openStructures, type Structures } from '../../../src/public/structures.ts'
import { Random } from '../../../src/runtime/index.ts'
import { checkDirectory } from '../../../src/saving/index.ts'
import { restartMachine } from '../../support/restarted-machine.ts'
import { type Operation, PowerCut, type Share } from './model.ts'
import { Recorder } from './recorder.ts'

const NAME = 'powered'
const BOOT_OFFSET = 1536
const BOOT_LENGTH = 36

/** Something that was done between two calls, with the value that the space had. */
interface Deed {
  readonly what: 'opened' | 'saved' | 'ended'
  readonly begin: number
  readonly end: number
  readonly value: number
}

/** What a process did from when it opened the space to when it had closed it, or later. */
export interface Life {
  readonly name: string
  readonly root: string
  readonly operations: readonly Operation[]
  readonly deeds: readonly Deed[]
  /** What was there before: an orderly end, or only a save, with this value. */
  readonly before: { readonly ended?: number; readonly saved?: number }
}

/** What is found after a power cut. `refused`: `open` says that there is no save to restore. */
export type Outcome = `ended ${number}` | `restored ${number}` | 'empty' | 'refused'

class Living {
  readonly deeds: Deed[] = []
  readonly #recorder: Recorder
  readonly #directory: string
  #value: number

  constructor(recorder: Recorder, directory: string, value: number) {
    this.#recorder = recorder
    this.#directory = directory
    this.#value = value
  }

  async deed<T>(what: Deed['what'], act: () => Promise<T>): Promise<T> {
    this.#recorder.look()
    const begin = this.#recorder.length
    const done = await act()
    this.#recorder.look()
    this.deeds.push({ what, begin, end: this.#recorder.length, value: this.#value })
    return done
  }

  /** Open, change, save, change, and end. */
  async live(): Promise<void> {
    const space = await this.deed('opened', () => open(NAME, { directory: this.#directory }))
    const shared = await openStructures(space, { size: '2MiB', reserve: false })
    await this.#change(space, shared)
    await this.deed('saved', () => space.save())
    await this.#change(space, shared)
    await this.deed('saved', () => space.save({ consistent: true }))
    await this.#change(space, shared)
    await this.deed('ended', async () => {
      await shared.close()
      await space.close()
    })
  }

  /** Everything says how often it was changed. The memory of the structures grows, and that of the space. */
  async #change(space: Space, shared: Structures): Promise<void> {
    this.#value += 1
    const value = this.#value
    ;(await shared.counter('counter')).setSync(value)
    const map = await shared.map<string>('map')
    for (let at = 0; at < 20; at += 1) map.setSync(`key ${at}`, `${value} `.repeat(30 * value))
    ;(await shared.log<number>('log')).appendSync(value)
    ;(await shared.queue<number>('queue')).pushSync(value)
    await using region = await space.openRegion(`region ${value}`, { size: '64KiB' })
    region.int32.fill(value)
  }
}

/** The lives, one after the other: of a new space, of one that ended in order, of one whose machine crashed. */
export async function liveAll(scratch: string): Promise<readonly Life[]> {
  const fresh = await live('a new space', join(scratch, 'fresh'), () => {}, {})
  const valueThen = fresh.deeds.at(-1)!.value
  const next = await live(
    'after an orderly end',
    join(scratch, 'next'),
    (directory) => {
      copy(join(fresh.root, 'space'), directory)
      restartMachine(directory, false)
    },
    { ended: valueThen, saved: valueThen - 1 },
  )
  const crashed = await live(
    'after a crash',
    join(scratch, 'crashed'),
    (directory) => {
      copy(join(fresh.root, 'space'), directory)
      restartMachine(directory, true)
    },
    { saved: valueThen - 1 },
  )
  return [fresh, next, crashed]
}

async function live(
  name: string,
  root: string,
  prepare: (directory: string) => void,
  before: Life['before'],
): Promise<Life> {
  mkdirSync(root)
  const directory = join(root, 'space')
  prepare(directory)
  const recorder = new Recorder(root)
  if (existsSync(directory)) {
    recorder.adoptDirectory(directory)
    for (const file of readdirSync(directory)) recorder.adopt(join(directory, file))
  }
  const begin = recorder.length
  const living = new Living(recorder, directory, before.ended ?? before.saved ?? 0)
  await living.live()
  recorder.stop()
  // A space that is not there yet may be cut off at any call; one that is, from its first call on.
  const deeds = living.deeds.map((deed) => ({ ...deed, begin: Math.max(begin, deed.begin) }))
  return { name, root, operations: recorder.operations, deeds, before }
}

function copy(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 })
  for (const file of ['aether.arena', 'aether.save']) cpSync(join(from, file), join(to, file))
}

/** Points between two calls at which the power may go, from where the space was there, if it was. */
export function cutsOf({ deeds, operations }: Life): readonly number[] {
  const cuts: number[] = []
  let last = deeds[0]!.begin
  cuts.push(last)
  for (let at = last; at < operations.length; at += 1) {
    // Data is one of many sectors that go together: what of them is there is drawn.
    const isOne = operations[at]!.type !== 'data' || operations[at + 1]?.type !== 'data'
    if (isOne) cuts.push(at + 1)
    last = at
  }
  return cuts
}

/** What may be found when the power went after that many calls. */
export function outcomesAllowed({ deeds, before }: Life, cut: number): ReadonlySet<Outcome> {
  const allowed = new Set<Outcome>()
  const begun = deeds.filter(({ begin }) => begin <= cut)
  const done = deeds.filter(({ end }) => end <= cut)
  // The mark of an end is gone once the space was opened again, and nothing else had changed before.
  const isOpen = done.some(({ what }) => what === 'opened')
  const ending = begun.findLast(({ what }) => what === 'ended')
  if (before.ended !== undefined && !isOpen) allowed.add(`ended ${before.ended}`)
  if (ending !== undefined) allowed.add(`ended ${ending.value}`)
  const savesDone = done.filter(({ what }) => what === 'saved')
  const saved = savesDone.at(-1)?.value ?? before.saved
  const isEnded = done.at(-1)?.what === 'ended'
  if (!isEnded) {
    if (saved !== undefined && (before.ended === undefined || begun.length > 0)) allowed.add(`restored ${saved}`)
    for (const { what, begin, end, value } of deeds)
      if (what === 'saved' && begin <= cut && end > cut) allowed.add(`restored ${value}`)
    if (saved === undefined) allowed.add('refused')
  }
  if (saved === undefined && !isOpen) allowed.add('empty')
  return allowed
}

/** Make a state of the disk, and open the space in it. Returns what was found; what is half is an error. */
export async function afterPowerCut(
  life: Life,
  cut: number,
  share: Share,
  seed: number,
  target: string,
): Promise<Outcome> {
  const random = new Random(seed)
  mkdirSync(target)
  try {
    new PowerCut(life.operations.slice(0, cut)).build(life.root, target, share, random)
    const directory = join(target, 'space')
    restartIfOfThisBoot(join(directory, 'aether.arena'))
    if (existsSync(directory)) await assertNotHalf(directory)
    const outcome = await outcomeOf(directory)
    if (outcome !== 'refused') await assertNotHalf(directory)
    return outcome
  } finally {
    rmSync(target, { recursive: true, force: true })
  }
}

/** What a check calls good is whole. */
async function assertNotHalf(directory: string): Promise<void> {
  const { state, damaged, lost } = await checkDirectory(directory, checkStore)
  if (state === 'good') assert.deepEqual([damaged, lost], [[], []])
}

async function outcomeOf(directory: string): Promise<Outcome> {
  let space: Space
  try {
    space = await open(NAME, { directory })
  } catch (error) {
    if (error instanceof SpaceError && error.code === 'ERR_AETHER_SPACE_RESTARTED') return 'refused'
    throw error
  }
  await using opened = space
  const regions = opened.regions().filter(({ name }) => name.startsWith('region '))
  if (!opened.regions().some(({ name }) => name === 'structures')) {
    assert.equal(regions.length, 0)
    return 'empty'
  }
  await using shared = await openStructures(opened)
  const value = (await shared.counter('counter')).getSync()
  const map = await shared.map<string>('map')
  for (let at = 0; at < 20; at += 1) assert.equal(map.getSync(`key ${at}`), `${value} `.repeat(30 * value))
  const log = await shared.log<number>('log')
  assert.equal(log.boundsSync().end, value)
  assert.equal((await shared.queue('queue')).lengthSync(), value)
  assert.equal(regions.length, value)
  for (const { name } of regions) {
    await using region = await opened.openRegion(name)
    assert.ok(
      region.int32.every((word) => word === Number(name.slice('region '.length))),
      name,
    )
  }
  return `${opened.restored === undefined ? 'ended' : 'restored'} ${value}`
}

/** The machine has been started again since: what the life wrote of its own start is that of another. */
function restartIfOfThisBoot(arena: string): void {
  if (!existsSync(arena)) return
  const file = openSync(arena, 'r+')
  try {
    const there = Buffer.alloc(BOOT_LENGTH)
    readSync(file, there, 0, BOOT_LENGTH, BOOT_OFFSET + 1)
    if (there.toString('latin1') === bootNow) writeSync(file, Buffer.from('eeeeeeee'), 0, 8, BOOT_OFFSET + 1)
  } finally {
    closeSync(file)
  }
}

const bootNow = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
