import type { Command } from 'aether-dsm/internal/cli'
import { integerOption, parseOptions, UsageError, wordOption } from 'aether-dsm/internal/cli'
import { type Protocol, protocols } from 'aether-dsm/internal/dsm'
import { planChecks } from '../modelcheck/index.ts'
import { runChecks } from './modelcheck/checks.ts'
import { runFlips } from './modelcheck/flips.ts'

const statesMaxMax = 60_000_000
const refusalsMax = 3
const table = {
  protocol: { type: 'string', default: 'all' },
  nodes: { type: 'string', default: '2,3' },
  pages: { type: 'string', default: '1,2' },
  'states-max': { type: 'string' },
  refusals: { type: 'string', default: '1' },
  flips: { type: 'boolean', default: false },
  far: { type: 'boolean', default: false },
  only: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

const help = `Usage: aether modelcheck [options]

Explores the tables of the coherence protocols. It tries every interleaving of loads, stores, evictions and messages of
a few nodes and pages, breadth first, with the state machine of the agents.

In every state it asserts these invariants:
  - A page has one writer or many readers, by what the mmu allows.
  - A rank that may read a page sees what was stored last, and that data is never lost.
  - One peer at a time writes a frame, and only while no program reads it.
  - Home knows every holder. The mmu agrees with the table. At rest, homes and copies agree.
Of the whole state space it asserts that every order comes to rest, and that no waiting thread is passed over for ever.

Messages between two nodes keep their order; across pairs there is no order. Bytes are abstract: stored last, or not.

Columns:
  threads       which threads may want pages at a node: one thread, or many. Many are a group of readers and a group of
                writers for each page
  exhaustive    every state was visited
  bounded       there are more than --states-max states. Every run of fewer steps than the depth was visited. Beyond it,
                actions were random, with the same invariants, and nothing is claimed
  up to names   of states that differ only in the names of nodes or pages, one was visited. The last phase of the
                exploration proves that this is enough

States are identified by 64-bit fingerprints. The odds that two states had the same fingerprint are printed.

Options:
  --protocol LIST      ${[...protocols.keys()].join(', ')}, or all (default)
  --nodes LIST         2, 3, or both (default)
  --pages LIST         1, 2, or both (default)
  --states-max N       stop each exploration at N states and call it bounded. By default only 3 nodes with 2 pages, and
                       3 nodes that count tokens, are bounded, at 1000000. The latter are explored once more as a
                       whole, with one thread for each node and without refusals
  --refusals N         how often a home may lack memory for a page in one run (default 1)
  --flips              instead, put every single mistake into each table (another next state, an action left out) and
                       report what detects it. That is an invariant with two nodes, progress, a cell that can no longer
                       be reached, or the record
  --far                with --flips: check mistakes that two nodes do not detect with three nodes as well (hours)
  --only TEXT          with --flips: only mistakes whose name contains TEXT, such as 'cache S/Invalidate'
  --json               print the results as JSON

It also plays the record: for each cell a short path to it, and what it did when the record was last reviewed. If a cell
does something else now, the path is drawn. After an intended change, run node scripts/protocol-plays.mjs and review
the difference.

Exit status: 1 if an invariant does not hold, a cell differs from the record or has no play, or --flips finds an
undetected mistake. For an invariant, a shortest path is drawn, with nodes as columns and messages as arrows.

Examples:
  aether modelcheck --protocol mesi --nodes 2
  aether modelcheck --nodes 3 --pages 2 --states-max 20000000
  aether modelcheck --flips --protocol mesi --only 'cache S/'`

/** `aether modelcheck`. */
export const modelcheckCommand: Command = {
  help,
  options: table,

  async run(args) {
    const { values } = parseOptions('modelcheck', args, table)
    const chosen = chosenProtocols(values.protocol)
    const text = values['states-max']
    const statesMax =
      text === undefined ? undefined : integerOption('modelcheck', '--states-max', text, 1, statesMaxMax)
    const refusals = integerOption('modelcheck', '--refusals', values.refusals, 0, refusalsMax)
    if (values.flips) return runFlips(chosen, { only: values.only ?? '', far: values.far, json: values.json })
    const nodes = numbers('--nodes', values.nodes, ['2', '3'])
    const pages = numbers('--pages', values.pages, ['1', '2'])
    const tasks = planChecks(chosen, { nodes, pages, refusals, ...(statesMax === undefined ? {} : { statesMax }) })
    return runChecks(chosen, tasks, values.json)
  },
}

function chosenProtocols(text: string): Protocol[] {
  if (text === 'all') return [...protocols.values()]
  return text.split(',').map((name) => {
    const protocol = protocols.get(name.trim())
    if (protocol !== undefined) return protocol
    throw new UsageError(`there is no protocol '${name}'; there are ${[...protocols.keys()].join(', ')}`, 'modelcheck')
  })
}

function numbers(option: string, text: string, words: readonly string[]): number[] {
  return text.split(',').map((each) => Number(wordOption('modelcheck', option, each.trim(), words)))
}
