import { writeFileSync } from 'node:fs'
import {
  type Algorithm,
  type Setting,
  type SpaceTimePlay,
  sequenceChart,
  spaceTimePage,
  spaceTimeSvg,
} from '../../agreement/index.ts'
import { outcomeOf } from './outcome.ts'
import type { PlayedWorld } from './plays.ts'

/** How a play is shown. */
export interface ShowChoices {
  readonly json: boolean
  /** The file for a page, or for a picture if it ends in `.svg`. */
  readonly page: string | undefined
  /** The command line that made it. */
  readonly command: string
}

/** Shows a play, in the terminal, as JSON or as a page. Returns the exit status. */
export function showPlay(play: PlayedWorld, { json, page, command }: ShowChoices): number {
  const { world, events, unit, violation } = play
  const { algorithm, setting } = world.scene
  const outcome = outcomeOf(play)
  if (page !== undefined) {
    const drawn = drawingOf(play)
    const words = { source: algorithm.source, command, outcome }
    writeFileSync(page, page.endsWith('.svg') ? spaceTimeSvg(drawn) : spaceTimePage(drawn, words))
  }
  if (json)
    console.log(JSON.stringify({ algorithm: algorithm.name, setting, events, costs: world.costs }, undefined, 2))
  else {
    if (page === undefined) console.log(`${sequenceChart(events, setting, unit)}\n`)
    console.log(outcome.join('\n'))
    if (page !== undefined) console.log(`\n${page}: ${events.length} events, to be opened in a browser`)
  }
  if (violation !== undefined) console.error(violation)
  return violation === undefined ? 0 : 1
}

function drawingOf({ world, events, unit = 'delays' }: PlayedWorld): SpaceTimePlay {
  const { algorithm, setting, inputs } = world.scene
  const { processes, memories } = setting
  const processNotes = inputs.map((input, process) =>
    world.isCorrect(process) ? noteOf(algorithm, input, process) : 'lies',
  )
  const memoryNotes = algorithm.onGraph === true ? inputs.map((_, process) => ownersOf(setting, process)) : []
  return { title: algorithm.title, processes, memories, processNotes, memoryNotes, unit, events }
}

function noteOf({ task }: Algorithm, input: string, process: number): string {
  if (task === 'consensus') return `proposes ${input}`
  return task === 'broadcast' && process === 0 ? `broadcasts ${input}` : ''
}

/** Whose a memory is, and who else may use it. */
function ownersOf({ neighbours }: Setting, process: number): string {
  const others = neighbours?.[process]?.map((other) => `P${other}`) ?? ['all']
  return `P${process}${others.length === 0 ? '' : `, for ${others.join(' ')}`}`
}
