import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type CoherenceMessage, MessageKind, type NodePort, noFrame, protocols } from '../../../src/dsm/index.ts'
import { RecordedNode, Recorder, Replay, readRecording } from '../../../src/dsm/recording/index.ts'
import { Random, type Runtime, Timers } from '../../../src/runtime/index.ts'

const RANKS = 3
const PAGES = 4

/** Nodes that talk through queues in this process, with a seed in place of the world's whims. */
class Play {
  readonly nodes: RecordedNode[]
  readonly recorders: Recorder[]
  readonly #queues: CoherenceMessage[][] = Array.from({ length: RANKS * RANKS }, () => [])
  readonly #random: Random
  #nowNs = 1000

  constructor(protocol: string, directory: string, seed: number, partBytes: number) {
    this.#random = new Random(seed)
    const runtime: Runtime = { now: () => this.#nowNs, timers: new Timers(), random: this.#random }
    const region = 'a region/with a slash'
    this.recorders = Array.from(
      { length: RANKS },
      (_, rank) => new Recorder({ directory, region, protocol, rank, ranks: RANKS, partBytes, parts: 1000 }),
    )
    this.nodes = this.recorders.map((recorder, rank) => {
      const options = { rank, ranks: RANKS, protocol: protocols.get(protocol)!, homeOf: (page: number) => page % RANKS }
      return new RecordedNode({ ...options, port: this.#port(rank) }, recorder, runtime)
    })
  }

  run(steps: number): void {
    for (let step = 0; step < steps; step += 1) {
      this.#nowNs += 1 + this.#random.below(1000)
      if (this.#random.below(3) === 0) this.#ask()
      else this.#deliver()
      if (step % 50 === 0) for (const recorder of this.recorders) recorder.flush()
    }
    for (const recorder of this.recorders) recorder.close()
  }

  #ask(): void {
    const node = this.nodes[this.#random.below(RANKS)]!
    const page = this.#random.below(PAGES)
    const choice = this.#random.below(4)
    if (choice === 0) node.evict(page)
    else if (choice === 1) node.retry(page)
    else node.demand(page, choice === 3)
  }

  #deliver(): void {
    const busy = this.#queues.flatMap((queue, index) => (queue.length > 0 ? [index] : []))
    const index = busy[this.#random.below(Math.max(1, busy.length))]
    if (index !== undefined) this.nodes[index % RANKS]!.receive(this.#queues[index]!.shift()!)
  }

  #port(rank: number): NodePort {
    const nothing = (): void => {}
    return {
      send: (to, message) => this.#queues[rank * RANKS + to]!.push(message),
      push: nothing,
      ownFrame: (page) => ({ address: 4096 * page, key: 0xdecaf }),
      mapReadOnly: nothing,
      mapWritable: nothing,
      protect: nothing,
      unmap: nothing,
      evicted: nothing,
      failed: nothing,
      mustHold: () => this.#random.below(4) === 0,
      isAlive: () => true,
    }
  }
}

function inDirectory(work: (directory: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'aether-record-'))
  try {
    work(directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const filesOf = (directory: string, rank: number): string[] =>
  readdirSync(directory)
    .filter((name) => name.includes(`-rank-${rank}-`))
    .sort((a, b) => partOf(a) - partOf(b))
    .map((name) => join(directory, name))

const partOf = (name: string): number => Number(name.split('.').at(-2))

/** Runs a file to its end; every step must do what it did. */
function replayWhole(path: string): Replay {
  const replay = new Replay(readRecording(path))
  for (let step = replay.next(); step !== undefined; step = replay.next()) {
    assert.equal(step.divergence, undefined, `${path}, step ${step.index}`)
    assert.equal(step.violation, undefined)
  }
  return replay
}

for (const protocol of protocols.keys()) {
  test(`${protocol}: a replay does step by step what was recorded, and ends in the same state`, () =>
    inDirectory((directory) => {
      for (const seed of [1, 2, 3]) {
        const play = new Play(protocol, join(directory, String(seed)), seed, 1e9)
        play.run(3000)
        for (const node of play.nodes) {
          const [file, ...more] = filesOf(join(directory, String(seed)), node.rank)
          assert.deepEqual(more, [])
          const replay = replayWhole(file!)
          assert.ok(replay.position > 300)
          for (const page of replay.pages())
            assert.deepEqual(replay.page(page), { copy: node.copyState(page), directory: node.directory(page) })
        }
      }
    }))

  test(`${protocol}: each part of a long recording can be replayed by itself`, () =>
    inDirectory((directory) => {
      const play = new Play(protocol, directory, 7, 20_000)
      play.run(6000)
      for (const node of play.nodes) {
        const files = filesOf(directory, node.rank)
        assert.ok(files.length > 2, `${files.length} parts`)
        const replays = files.map(replayWhole)
        for (const page of replays.at(-1)!.pages()) assert.equal(replays.at(-1)!.page(page).copy, node.copyState(page))
      }
    }))
}

test('a recording holds neither keys nor addresses', () =>
  inDirectory((directory) => {
    new Play('mesi', directory, 1, 1e9).run(1000)
    for (const path of filesOf(directory, 0)) assert.ok(!readFileSync(path, 'utf8').includes(String(0xdecaf)))
  }))

test('a violated assertion is recorded and seen again', () =>
  inDirectory((directory) => {
    const play = new Play('mesi', directory, 1, 1e9)
    const unexpected = { page: 0, from: 0, requester: 1, count: 0, requesterFrame: noFrame, homeFrame: noFrame }
    assert.throws(() => play.nodes[1]!.receive({ ...unexpected, kind: MessageKind.DataShared }), /no transition/)
    play.run(0)
    const replay = new Replay(readRecording(filesOf(directory, 1)[0]!))
    const step = replay.next()!
    assert.match(step.violation ?? '', /state I has no transition for DataShared/)
    assert.equal(step.divergence, undefined)
  }))

test('a run that differs from the recorded one is said to', () =>
  inDirectory((directory) => {
    new Play('mesi', directory, 1, 1e9).run(400)
    const [file] = filesOf(directory, 0)
    const lines = readFileSync(file!, 'utf8').split('\n')
    const at = lines.findIndex((line) => line.includes('"demand"') && !line.endsWith(',[],2166136261]'))
    lines[at] = lines[at]!.replace(/,\d+\]$/, ',12345]')
    writeFileSync(file!, lines.join('\n'))
    const replay = new Replay(readRecording(file!))
    let step = replay.next()!
    while (step.index < at - 1) step = replay.next()!
    assert.match(step.divergence ?? '', /not what it said/)
  }))

test('a file that was cut off is read up to there; others are refused by line', () =>
  inDirectory((directory) => {
    new Play('mesi', directory, 1, 1e9).run(400)
    const [file] = filesOf(directory, 0)
    const whole = readRecording(file!)
    assert.equal(whole.cutOff, false)
    writeFileSync(file!, readFileSync(file!, 'utf8').slice(0, -3))
    const cut = readRecording(file!)
    assert.equal(cut.cutOff, true)
    assert.deepEqual(cut.steps, whole.steps.slice(0, -1))

    const [header, ...steps] = readFileSync(file!, 'utf8').split('\n')
    const refuses = (text: string, message: RegExp): void => {
      writeFileSync(file!, text)
      assert.throws(() => new Replay(readRecording(file!)), message)
    }
    refuses('', /line 1: this line is not JSON/)
    refuses('{}\n', /line 1: this file is not a recording/)
    refuses(`${header!.replace('"version":1', '"version":2')}\n`, /version 2; this program reads version 1/)
    refuses(`${header!.replace('"mesi"', '"mosi"')}\n`, /there is no protocol 'mosi'/)
    refuses(`${header}\n${steps[0]}\nnonsense\n`, /line 3: this line is not JSON/)
    refuses(`${header}\n[1,"explode",[],[],0]\n`, /line 2: this line is not a step/)
  }))

test('where the recording cannot be written the node goes on', () => {
  const play = new Play('mesi', '/proc/version/nowhere', 1, 1e9)
  play.run(200)
  assert.equal(play.recorders[0]!.path, undefined)
})
