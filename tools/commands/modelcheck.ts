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

Explores the coherence protocols: every interleaving of loads, stores, evictions and messages of a few nodes and pages, breadth first, with the
state machine that the agents run. In every state the invariants are asserted: one writer or many readers, by what the mmu allows; whoever may read
has what was last stored, and it is never lost; frames are written by one peer at a time and only while nobody looks; home knows every
holder; mmu and table agree; at rest homes and copies agree. Of the whole: all comes to rest whatever the order, no thread that waits is passed
over for ever.

Channels keep their order between two nodes; nothing is promised across pairs. Bytes are abstract: those last stored, or not.
'threads' says who may want pages at a node: one thread, or any number (one group that waits to read and one that waits to write, for each page).
'exhaustive' means that every state was visited. Where there are more than --states-max, it says 'bounded', and that every run of fewer steps than
the depth was looked at; beyond, actions were taken at random, the same invariants asserted, and nothing is claimed. 'up to names': of states that differ in the
names of nodes or pages only, one was looked at, which is proved to be enough at the end. States are told apart by fingerprints of 64 bits; the odds that two
fell together are printed.

Options:
  --protocol LIST      ${[...protocols.keys()].join(', ')}, or all (default)
  --nodes LIST         2, 3, or both (default)
  --pages LIST         1, 2, or both (default)
  --states-max N       stop each exploration there and call it bounded (default: enough for all but 3 nodes with 2 pages and 3 nodes that
                       count tokens, which are bounded at 1000000; those once more with one thread a node and no refusals, whole)
  --refusals N         how often a home may lack memory for a page in one run (default 1)
  --flips              put every single mistake into each table instead (another next state, an action left out) and tell what notices it:
                       an invariant of two nodes' states, progress, cells that nothing leads to any more, or the record of plays
  --far                with --flips: look for those that two nodes do not notice with three as well (hours)
  --only TEXT          with --flips: those whose name contains this, as 'cache S/Invalidate'
  --json               the results as JSON

Beside that, what was recorded of each cell when it was last reviewed is played: a short way to it, and what it does there. Where a cell does something
else now, the way is drawn, too. After a change that is meant: node scripts/protocol-plays.mjs, and review what it changes.

Exit status: 1 when an invariant does not hold (a shortest way there is drawn, nodes as columns, messages as arrows), when a cell does something else than
was recorded or no play leads to it, or with --flips when a mistake went unnoticed.

Examples:
  aether modelcheck --protocol mesi --nodes 2
  aether modelcheck --nodes 3 --pages 2 --states-max 20000000
  aether modelcheck --flips --protocol mesi --only 'cache S/'`

/** `aether modelcheck`. */
export const modelcheckCommand: Command = {
  help,

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
