import { UsageError } from 'aether-dsm/internal/cli'
import type { TimelyCrash } from '../../agreement/index.ts'

/** The crashes of `--kill`, as `P0@3,M1`. @throws UsageError if it names what is not there. */
export function parseKills(text: string, processes: number, memories: number): TimelyCrash[] {
  return text === '' ? [] : text.split(',').map((each) => parseKill(each.trim(), processes, memories))
}

function parseKill(text: string, processes: number, memories: number): TimelyCrash {
  const [, kind, number = '', at = '0'] = /^([PM])(\d+)(?:@(\d+))?$/.exec(text) ?? []
  const isThere = Number(number) < (kind === 'P' ? processes : memories)
  if (kind === undefined || !isThere)
    throw new UsageError(
      `--kill takes ${[...namesOf('P', processes), ...namesOf('M', memories)].join(' and ')}, as in P0@3, not '${text}'`,
      'agreement',
    )
  return { [kind === 'P' ? 'process' : 'memory']: Number(number), at: Number(at) }
}

function namesOf(kind: string, count: number): string[] {
  if (count < 2) return count === 0 ? [] : [`${kind}0`]
  return [`${kind}0 to ${kind}${count - 1}`]
}
