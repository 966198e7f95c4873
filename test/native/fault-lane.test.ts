import assert from 'node:assert/strict'
import test from 'node:test'
import { FAULT_NUMBERS, FaultAnswer, native } from '../../src/native/index.ts'
import { pageBytes } from './resources.ts'
import { Stage, userfaultRefused } from './toucher.ts'

const skip = userfaultRefused()
const patienceMs = 10_000
const region = 7

/** Bits of a page's word: see src/dsm/mmu/page-words.ts. */
const none = 0
const read = 1
const write = 2
const wanted = 1 << 2
const failed = 1 << 4
const untouched = 1 << 7

/** A stage whose faults have a lane: every page has its frame, and a word. */
class Lane implements AsyncDisposable {
  readonly stage: Stage
  readonly words: Int32Array
  readonly out = new Float64Array(8 * FAULT_NUMBERS)

  private constructor(stage: Stage, pages: number, word: number) {
    this.stage = stage
    this.words = new Int32Array(new SharedArrayBuffer(4 * pages)).fill(word)
    const windows = new Float64Array(8)
    windows.set([stage.address, 0, pages * pageBytes], 4)
    new Int32Array(windows.buffer)[0] = 1
    stage.frames.fill(1)
    native.openFaultLane(region, this.words, windows, pageBytes)
  }

  static async open(pages: number, word: number): Promise<Lane> {
    return new Lane(await Stage.open(pages), pages, word)
  }

  /** Sleep until something comes that the lane does not keep to itself. Returns how many faults were read. */
  sleep(descriptor = -1): number {
    const { stage, out } = this
    return native.pollAnswering(stage.descriptor, Int32Array.of(descriptor), new Int32Array(1), 1, patienceMs, out)
  }

  fault(index = 0): { address: number; answer: number; region: number } {
    const [address = 0, , , answer = 0, of = 0] = this.out.subarray(FAULT_NUMBERS * index)
    return { address, answer, region: of }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    native.closeFaultLane(region)
    await this.stage[Symbol.asyncDispose]()
  }
}

test('an untouched page is opened for reading by a load, and is untouched no more', { skip }, async () => {
  await using lane = await Lane.open(4, untouched)
  const { stage, words } = lane
  stage.toucher.read(pageBytes / 4)
  assert.equal(lane.sleep(), 1)
  assert.deepEqual(lane.fault(), { address: stage.page(1), answer: FaultAnswer.Opened, region })
  assert.equal(stage.toucher.finish(), 1)
  assert.deepEqual([...words], [untouched, none, untouched, untouched])
  // Nobody has said yet that it may be written.
  stage.toucher.write(pageBytes / 4, 2)
  assert.equal(lane.sleep(), 1)
  assert.equal(lane.fault().answer, FaultAnswer.None)
  native.protectPages(stage.descriptor, stage.page(1), pageBytes, false)
  stage.toucher.finish()
})

test('an untouched page is opened for writing by a store', { skip }, async () => {
  await using lane = await Lane.open(2, untouched)
  const { stage } = lane
  stage.toucher.write(0, 5)
  assert.equal(lane.sleep(), 1)
  assert.equal(lane.fault().answer, FaultAnswer.Opened)
  stage.toucher.finish()
  assert.equal(Atomics.load(stage.frames, 0), 5)
})

test('a page with the right is opened with that right', { skip }, async () => {
  await using lane = await Lane.open(3, none)
  const { stage, words } = lane
  words.set([read, write, read])
  stage.toucher.read(0)
  assert.equal(lane.sleep(), 1)
  assert.equal(lane.fault().answer, FaultAnswer.HadTheRight)
  assert.equal(stage.toucher.finish(), 1)
  stage.toucher.read(pageBytes / 4)
  assert.equal(lane.sleep(), 1)
  stage.toucher.finish()
  stage.toucher.write(pageBytes / 4, 3)
  stage.toucher.finish()
  assert.deepEqual([...words], [read, write, read])
  stage.toucher.write((2 * pageBytes) / 4, 4)
  assert.equal(lane.sleep(), 1)
  assert.equal(lane.fault().answer, FaultAnswer.None, 'a store needs more than the right to read')
  native.installPages(stage.descriptor, stage.page(2), pageBytes, false)
  stage.toucher.finish()
})

test('what is wanted, has failed, or belongs to others is left to the agent', { skip }, async () => {
  await using lane = await Lane.open(4, none)
  const { stage, words } = lane
  words.set([untouched | wanted, untouched | failed, read | wanted, none])
  for (let page = 0; page < 4; page += 1) {
    const before = words[page]
    stage.toucher.read((page * pageBytes) / 4)
    assert.equal(lane.sleep(), 1)
    assert.deepEqual(lane.fault(), { address: stage.page(page), answer: FaultAnswer.None, region })
    assert.equal(words[page], before)
    native.installPages(stage.descriptor, stage.page(page), pageBytes, false)
    stage.toucher.finish()
  }
})

test('a page larger than the system’s is opened whole', { skip }, async () => {
  await using lane = await Lane.open(4, untouched)
  const { stage, words } = lane
  const windows = new Float64Array(8)
  windows.set([stage.address, 0, 4 * pageBytes], 4)
  new Int32Array(windows.buffer)[0] = 1
  native.openFaultLane(region, words, windows, 2 * pageBytes)
  stage.toucher.read((3 * pageBytes) / 4)
  assert.equal(lane.sleep(), 1)
  stage.toucher.finish()
  assert.deepEqual([...words], [untouched, none, untouched, untouched])
  stage.toucher.read((2 * pageBytes) / 4)
  assert.equal(stage.toucher.finish(), 1)
  stage.noFault()
})

test('without a lane, and when it was closed, no fault is answered', { skip }, async () => {
  await using lane = await Lane.open(2, untouched)
  const { stage, words } = lane
  native.closeFaultLane(region)
  stage.toucher.read(0)
  assert.equal(lane.sleep(), 1)
  assert.deepEqual(lane.fault(), { address: stage.page(0), answer: FaultAnswer.None, region: -1 })
  assert.equal(words[0], untouched)
  native.installPages(stage.descriptor, stage.page(0), pageBytes, false)
  stage.toucher.finish()
})

test('another descriptor ends the sleep at once', { skip }, async () => {
  await using lane = await Lane.open(2, untouched)
  const [readEnd = -1, writeEnd = -1] = native.createPipe()
  native.ringPipe(writeEnd)
  assert.equal(lane.sleep(readEnd), 0)
  for (const end of [readEnd, writeEnd]) native.closeDescriptor(end)
})
