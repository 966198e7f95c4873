import { Inputs, operationName, operationNamed } from './input.ts'
import type { Action } from './world.ts'

/** Ways are played with one page. */
const inputs = new Inputs(1)

/**
 * A path in words, for a model of one page. In `1 store, 1>0, 0>1`, node 1 wants to write; then a message from 1 to 0
 * is delivered, and one from 0 to 1. In `1>0 without memory` and `1>0 lost`, node 0 refuses the message of node 1.
 */
export const wayText = (way: readonly Action[]): string => way.map((action) => actionText(action)).join(', ')

/** @throws RangeError if the text is not a path. */
export const parseWay = (text: string): Action[] => text.split(', ').map((each) => parseAction(each))

const refusals = { deliver: '', refuse: ' without memory', lose: ' lost' } as const

function actionText(action: Action): string {
  if (action.do === 'program') return `${action.node} ${operationName(inputs.operationOf(action.input))}`
  return `${action.from}>${action.to}${refusals[action.do]}`
}

function parseAction(text: string): Action {
  const message = /^(\d)>(\d)( without memory| lost)?$/.exec(text)
  if (message !== null) {
    const [, from, to, refusal] = message
    const what = refusal === undefined ? 'deliver' : refusal === ' lost' ? 'lose' : 'refuse'
    return { do: what, from: Number(from), to: Number(to) }
  }
  const program = /^(\d) (.+)$/.exec(text)
  const operation = program === null ? undefined : operationNamed(program[2]!)
  if (program === null || operation === undefined) throw new RangeError(`'${text}' is nothing that can happen`)
  return { do: 'program', node: Number(program[1]), input: inputs.program(operation, 0) }
}
