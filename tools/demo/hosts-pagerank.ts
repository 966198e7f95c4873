import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { fileURLToPath } from 'node:url'
import { type LaunchOptions, launch } from 'aether-dsm/internal/cluster'
import { DemoError } from './demo-error.ts'
import type { GraphChoice } from './graph-choice.ts'
import {
  type AloneOutcome,
  type OnProgress,
  summariseGroup,
  type TogetherOutcome,
  type TogetherPlan,
} from './pagerank-part.ts'
import { digestOf, parseLine, type RankLine } from './printed-report.ts'
import type { RankPlan } from './rank-plan.ts'
import type { MemberReport } from './report-page.ts'

const rankScript = fileURLToPath(new URL('./rank-process.js', import.meta.url))

/** On which hosts, and how they are reached. */
export type DemoHosts = Required<Pick<LaunchOptions, 'hosts'>> & Pick<LaunchOptions, 'ssh' | 'address' | 'port'>

/**
 * Rank the graph on other hosts. They share no memory with this process, so each reads or makes the graph itself, and
 * tells its report by its output.
 * @throws DemoError when a rank fails.
 */
export async function rankOnHosts(
  alone: AloneOutcome,
  choice: GraphChoice,
  wanted: TogetherPlan,
  hosts: DemoHosts,
  onProgress: OnProgress,
): Promise<TogetherOutcome> {
  const { graph } = alone
  const plan: RankPlan = {
    ...wanted,
    graph: choice,
    space: '',
    vertexCount: graph.outDegrees.length,
    edgeCount: graph.sources.length,
  }
  const reports = new Map<number, MemberReport>()
  let digest = ''
  const stdout = new RankLines((line) => {
    if (line.type === 'progress') return onProgress(line.iteration, line.change)
    reports.set(line.rank, line.report)
    if (line.rank === 0) digest = line.digest
  })
  const args = [JSON.stringify(plan)]
  const { status, failures } = await launch({ ...hosts, script: rankScript, args, ranks: wanted.members, stdout })
  if (status !== 0) throw new DemoError(failures[0]?.message ?? `the ranks were stopped (status ${status})`)
  const members = Array.from({ length: wanted.members }, (_, rank) => reports.get(rank))
  return summariseGroup(wanted, members, digest === digestOf(alone.ranks))
}

/** Takes the ranks' lines: what is for the demo goes to it, the rest to people. */
class RankLines extends Writable {
  readonly #take: (line: RankLine) => void
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''

  constructor(take: (line: RankLine) => void) {
    super()
    this.#take = take
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    const lines = `${this.#rest}${this.#decoder.write(chunk)}`.split('\n')
    this.#rest = lines.pop() ?? ''
    for (const text of lines) {
      const line = parseLine(text)
      if (line === undefined) process.stderr.write(`${text}\n`)
      else this.#take(line)
    }
    done()
  }
}
