/**
 * One rank of a group of two that does, as often as it is asked, what `aether bench dsm` and the demo do:
 * `rank.mjs NAME RANK SCALE`. Its answers: times as this rank saw them, in ns, and the processor time of this process
 * with its agent.
 */
import process from 'node:process'
import { native } from '../../dist/src/native/index.js'
import { join } from '../../dist/src/public/index.js'
import { Baton } from '../../dist/tools/bench/dsm-baton.js'
import { scenarios } from '../../dist/tools/bench/dsm-scenario.js'
import { splitBlocks } from '../../dist/tools/demo/block-split.js'
import { copyGraph } from '../../dist/tools/demo/graph-layout.js'
import { loadStage } from '../../dist/tools/demo/own-stage.js'
import { computePageRank } from '../../dist/tools/demo/pagerank.js'
import { windowsOf } from '../../dist/tools/demo/rank-plan.js'
import { fetcherOf, fetchGraph, shareOf } from '../../dist/tools/demo/rank-share.js'
import { openRankState, planRegion } from '../../dist/tools/demo/region-layout.js'
import { answer, endWithStarter } from './process.mjs'
import { median } from './ratios.mjs'

endWithStarter()
const [name, rank, scale] = process.argv.slice(2)
/** Those of `aether bench dsm` whose page is used again. */
const moves = scenarios.filter(({ op }) => /^(load|store|readSync), written by its home$/.test(op))
const PAGE_BYTES = 4096
const RANK_PAGE_BYTES = 65_536
/** By then the agents sleep, and no grant is held any more. */
const CALM_MS = 0.3
const HITS = 20_000
const LEASE_MS = 60_000

const group = await join({ rank: Number(rank), size: 2, rendezvous: `local:${name}`, leaseMs: LEASE_MS })
if (group.viewsRefused !== undefined) throw new Error(group.viewsRefused)
const board = await group.openRegion('board', { size: PAGE_BYTES, coherence: 'hardware' })
const region = await group.openRegion('pages', { size: 4 * PAGE_BYTES, coherence: 'mesi', placement: 'cyclic' })
const baton = new Baton(board.int32, group.rank, group.size)
const calm = new Int32Array(new SharedArrayBuffer(4))
const buffer = new Uint8Array(PAGE_BYTES)
/** Of rank 1. */
const SHARED_AT = PAGE_BYTES

function act(kind) {
  if (kind === 'load') Atomics.load(region.bigInt64, SHARED_AT / 8)
  else if (kind === 'store') Atomics.store(region.bigInt64, SHARED_AT / 8, 1n)
  else region.readSync(SHARED_AT, buffer)
}

/** Rank 0's median time of the last step. */
function move({ steps }, turns) {
  const taken = []
  for (let turn = 0; turn < turns; turn += 1)
    for (const [index, step] of steps.entries())
      baton.step(step.rank, () => {
        const isMeasured = index === steps.length - 1
        if (isMeasured) Atomics.wait(calm, 0, 0, CALM_MS)
        const began = native.monotonicNs()
        act(step.act)
        if (isMeasured) taken.push(native.monotonicNs() - began)
      })
  return group.rank === 0 ? median(taken) : 0
}

/** What profiling has no part in: rank 0 adds to a word of a page that is here. */
function hit() {
  let ns = 0
  baton.step(0, () => {
    region.fetchAddSync(SHARED_AT, 1n)
    const began = native.monotonicNs()
    for (let turn = 0; turn < HITS; turn += 1) region.fetchAddSync(SHARED_AT, 1n)
    ns = (native.monotonicNs() - began) / HITS
  })
  return ns
}

async function preparePageRank() {
  const { graph } = await loadStage({ kind: 'kronecker', scale: Number(scale), seed: 1 }, group.size)
  const bounds = splitBlocks(graph.offsets, group.size, RANK_PAGE_BYTES)
  const layout = planRegion({
    vertexCount: graph.outDegrees.length,
    edgeCount: graph.sources.length,
    bounds,
    pageBytes: RANK_PAGE_BYTES,
  })
  const ranked = await group.openRegion('pagerank', {
    size: layout.lengthBytes,
    coherence: 'mesi',
    pageSize: RANK_PAGE_BYTES,
  })
  const state = openRankState(layout, windowsOf(ranked))
  const own = shareOf(graph, bounds, group.rank)
  if (group.rank === 0) copyGraph(graph, state.graph)
  await group.barrier()
  await fetchGraph(ranked, layout, own)
  const fetch = fetcherOf(ranked, layout, own)
  return async () => {
    await group.barrier()
    const began = native.monotonicNs()
    await computePageRank(state, {
      firstBlock: own.firstBlock,
      lastBlock: own.endBlock,
      barrier: () => group.barrierSync(),
      fetch,
    })
    return native.monotonicNs() - began
  }
}

/** Figures by name, and what the processors did for one turn. */
async function measure(turns, work) {
  const before = process.cpuUsage()
  const figures = await work()
  const { user, system } = process.cpuUsage(before)
  return { figures, cpuNs: (1000 * (user + system)) / turns }
}

const works = {
  async moves(turns) {
    const { figures, cpuNs } = await measure(turns, () => moves.map((scenario) => [scenario.op, move(scenario, turns)]))
    return { figures: Object.fromEntries([...figures, ['fetchAddSync, page here', hit()]]), cpuNs }
  },
  PageRank: (turns) =>
    measure(turns, async () => {
      let ns = 0
      for (let turn = 0; turn < turns; turn += 1) ns += (await pageRank()) / turns
      return { PageRank: ns }
    }),
}
const pageRank = await preparePageRank()
answer(({ kind, turns }) => works[kind](turns))
process.send('ready')
