import type { StructureDetailFrame } from '../../dashboard/index.ts'
import type { Screen } from '../output/screen.ts'
import { formatCount, formatRate, processText } from '../output/units.ts'
import { bytesText, entriesText, plainName } from './structures-table.ts'

/** Prints all that is known of one structure. */
export function showStructure(space: string, detail: StructureDetailFrame, screen: Screen): void {
  const { structure, options, holders, users, title, items, isWhole } = detail
  const { paint } = screen
  const { reads, writes, waiting, evictions, expirations } = structure
  screen.line(
    `${paint('bold', plainName(structure.name))}  ${structure.kind} in region '${structure.region}' of space '${space}'`,
  )
  const facts: readonly (readonly [string, string])[] = [
    ['now', structure.now],
    ['entries', entriesText(structure)],
    ['bytes', bytesText(structure)],
    ['calls', `${formatRate(reads)} that look, ${formatRate(writes)} that may change it`],
    ['waiting', formatCount(waiting)],
    ['removed', `${formatCount(evictions)} for a bound, ${formatCount(expirations)} expired`],
    ...options,
    ['held by', holders.join('; ')],
  ]
  const shown = facts.filter(([, text]) => text !== '' && text !== '-')
  const width = Math.max(...shown.map(([name]) => name.length))
  for (const [name, text] of shown) screen.line(`  ${paint('dim', name.padEnd(width))}  ${text}`)
  showUsers(users, screen)
  if (title === '') return
  screen.line()
  screen.line(`  ${paint('dim', items.length === 0 ? `no ${title}` : title)}`)
  for (const { label, text } of items) screen.line(`  ${label === '' ? '' : `${label}: `}${text}`)
  if (!isWhole) screen.line(`  ${paint('dim', 'and more, or some that changed too fast to be read')}`)
}

function showUsers(users: StructureDetailFrame['users'], screen: Screen): void {
  if (users.length === 0) return
  screen.line()
  screen.table(
    [
      { title: 'member', align: 'left' },
      { title: 'process', align: 'right' },
      { title: 'reads', align: 'right' },
      { title: 'writes', align: 'right' },
      { title: 'waiting', align: 'right' },
    ],
    users.map(({ member, processId, foreign, reads, writes, waiting }) => [
      member,
      processText({ processId, foreign }),
      formatCount(reads),
      formatCount(writes),
      formatCount(waiting),
    ]),
  )
}
