/**
 * One process of a litmus group: `node rank.js PLAN`, with PLAN a {@link RankPlan} as JSON. Rank 0 prints a
 * {@link RankReport} after each run.
 */
import process from 'node:process'
import { join, type RegionGroup } from 'aether-dsm/internal/dsm'
import { native } from 'aether-dsm/internal/native'
import { Random } from 'aether-dsm/internal/runtime'
import { Board } from './board.ts'
import type { LitmusMemory, OpenMemory } from './litmus-memory.ts'
import { ASLEEP, PACES, Pace } from './pace.ts'
import type { Access, RankPlan, RankReport, Run } from './plan.ts'
import { type Batch, Player, pagesOf } from './player.ts'
import { parseShape } from './shape.ts'
import { shapes } from './shapes.ts'

/** Bases are this far apart, so that a value of one batch is foreign to every other. */
const BASE_STEP = 4
/**
 * The slow pace, in which rounds surely overlap: one batch in two at the beginning of a run, in eight later. The others
 * are drawn.
 */
const ASLEEP_EVERY = 2
const ASLEEP_OFTEN = 8
const ASLEEP_LATER = 8
/** Sleeps of tens of microseconds are meant as such. */
const TIMER_SLACK_NS = 1000
const LEASE_MS = 60_000

class Rank {
  readonly #group: RegionGroup
  readonly #plan: RankPlan
  readonly #openMemory: OpenMemory
  readonly #board: Board
  readonly #pace: Pace
  /** Draws alike at every rank. */
  readonly #common: Random
  #base = 0

  constructor(group: RegionGroup, plan: RankPlan, openMemory: OpenMemory, board: Board) {
    this.#group = group
    this.#plan = plan
    this.#openMemory = openMemory
    this.#board = board
    this.#common = new Random(plan.seed)
    const own = new Random(plan.seed + group.rank + 1)
    this.#pace = new Pace(board, group.rank, () => own.uint32() / 2 ** 32)
  }

  async play(run: Run): Promise<void> {
    const started = performance.now()
    const index = this.#plan.runs.indexOf(run)
    const { axis } = run
    const { viewsRefused } = this.#group
    if (axis.coherence !== 'hardware' && needsView(axis.access) && viewsRefused !== undefined) {
      this.#report({ run: index, seconds: 0, counts: [], evicted: 0, skipped: viewsRefused })
      return
    }
    const { pageSize } = this.#plan
    const memory = await this.#openMemory(this.#group, axis, { bytes: pagesOf(axis.ranks) * pageSize, pageSize })
    const evictedBefore = this.#evicted()
    this.#playOn(memory, run)
    const counts = this.#group.rank === 0 ? this.#board.takeCounts() : []
    const evicted = this.#evicted() - evictedBefore
    this.#board.meet()
    this.#report({ run: index, seconds: (performance.now() - started) / 1000, counts, evicted })
  }

  /** Of all ranks, so far. */
  #evicted(): number {
    let count = 0
    for (let rank = 0; rank < this.#group.size; rank += 1)
      count += this.#group.profile(rank)?.total('dsm.pages', 'evictions') ?? 0
    return count
  }

  #playOn(memory: LitmusMemory, run: Run): void {
    const program = parseShape(shapes.find(({ name }) => name === run.shape)!)
    const options = { rank: this.#group.rank, pageSize: this.#plan.pageSize, board: this.#board, pace: this.#pace }
    const player = new Player(options, program, run.axis, memory)
    let batch = this.#draw(run.axis.ranks, true)
    player.begin(batch)
    for (let [rounds, count] = [0, 1]; rounds < run.rounds; count += 1) {
      const next = this.#draw(run.axis.ranks, isAsleep(count))
      player.play(batch, next)
      rounds += player.roundsIn(batch)
      batch = next
    }
  }

  #draw(ranks: number, asleep: boolean): Batch {
    this.#base += BASE_STEP
    const random = this.#common
    const [shift, home, referee] = [random.below(ranks), random.below(ranks), random.below(ranks)]
    return { base: this.#base, shift, home, referee, pace: asleep ? ASLEEP : random.below(PACES) }
  }

  #report(report: RankReport): void {
    if (this.#group.rank === 0) process.stdout.write(`${JSON.stringify(report)}\n`)
  }
}

/** Whether batch `index` of a run has the slow pace. */
function isAsleep(index: number): boolean {
  return index % (index < ASLEEP_OFTEN ? ASLEEP_EVERY : ASLEEP_LATER) === 0
}

function needsView(access: Access): boolean {
  return access === 'atomics' || access === 'plain'
}

const plan = JSON.parse(process.argv[2]!) as RankPlan
const { openMemory } = (await import(plan.memoryUrl)) as { openMemory: OpenMemory }
// On a busy machine, a process that gets no CPU for long has not died.
await using group = await join({ leaseMs: LEASE_MS })
native.setTimerSlack(TIMER_SLACK_NS)
const slotsMax = plan.pageSize / 8
const size = Board.lengthBytes(group.size, slotsMax)
await using control = await group.openRegion('litmus-board', { size, coherence: 'hardware' })
const rank = new Rank(group, plan, openMemory, new Board(control.int32, group.size, slotsMax))
for (const run of plan.runs) await rank.play(run)
