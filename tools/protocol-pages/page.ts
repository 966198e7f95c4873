import {
  cacheActionWords,
  cacheEventWords,
  directoryActionWords,
  directoryEventWords,
  type Protocol,
} from 'aether-dsm/internal/dsm'
import { type ShownTable, stateDiagram } from './diagram.ts'

/** The page of documentation of a protocol, in Markdown. Made from its tables alone, so the two cannot differ. */
export function protocolPage(protocol: Protocol): string {
  const { name, describe, source, cache, directory } = protocol
  return `# The protocol ${name}

${describe}

Source: ${source}

\`npm run docs\` generates this page from the tables. \`npm run modelcheck -- --protocol ${name}\` explores every interleaving of them ([model checking](../model-checking.md)).

## A copy of a page

Each node has one state per page. The *right* is what the memory management unit lets the program do. The *worth* of a copy decides recovery when members die.

${markdownTable(
  ['state', 'meaning', 'right', 'worth', 'stays'],
  Object.entries(cache.states).map(([state, row]) => [
    code(state),
    row.describe,
    row.right,
    row.worth,
    row.transient ? 'until a message comes' : 'yes',
  ]),
)}

${section(cache, cacheEventWords, cacheActionWords)}

## The entry at a page's home

Home has one entry per page. Its memory is *valid* if its frame certainly holds what was written last.

${markdownTable(
  ['state', 'meaning', "home's memory", 'stays'],
  Object.entries(directory.states).map(([state, row]) => [
    code(state),
    row.describe,
    row.memory,
    row.transient ? 'until a message comes' : 'yes',
  ]),
)}

${section(directory, directoryEventWords, directoryActionWords)}
`
}

function section(
  table: ShownTable,
  events: Readonly<Record<string, string>>,
  actions: Readonly<Record<string, string>>,
): string {
  const rows = Object.entries(table.states).flatMap(([state, { on }]) =>
    Object.entries(on).flatMap(([event, cell], index) =>
      cell === undefined
        ? []
        : [
            [
              index === 0 ? code(state) : '',
              event,
              cell.actions.join(', '),
              cell.next === state ? '·' : code(cell.next),
            ],
          ],
    ),
  )
  const cells = Object.values(table.states).flatMap(({ on }) => Object.entries(on))
  const usedEvents = Object.keys(events).filter((event) => cells.some(([each]) => each === event))
  const usedActions = Object.keys(actions).filter((action) => cells.some(([, cell]) => cell?.actions.includes(action)))
  return `Arrows are labelled with events. Events that do not change the state are left out.

\`\`\`mermaid
${stateDiagram(table)}
\`\`\`

The table shows what each state does with each event. Any other event is a protocol error. A dot means the same state.

${markdownTable(['state', 'event', 'actions, in order', 'next'], rows)}

${markdownTable(
  ['event', 'what happened'],
  usedEvents.map((event) => [event, events[event]!]),
)}

${markdownTable(
  ['action', 'what is done'],
  usedActions.map((action) => [action, actions[action]!]),
)}`
}

const code = (text: string): string => `\`${text}\``

function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(titles), line(titles.map(() => '---')), ...rows.map((row) => line(row))].join('\n')
}
