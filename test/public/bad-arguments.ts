/**
 * A program: calls everything that one export path offers with wrong arguments. Run by bad-arguments.test.ts in a
 * process of its own, since a mistake may be a crash or an endless wait. It prints the faults and a summary as JSON.
 *
 *   node bad-arguments.js CALLABLES.json DOOR SEED [part of a callable's name]
 */
import { openSync, readFileSync, writeSync } from 'node:fs'
import { Random } from '../../src/runtime/index.ts'
import type { Callable } from './callables.ts'
import { Caller } from './caller.ts'
import { isExcluded } from './excluded.ts'
import { recipesOf } from './recipes/index.ts'

const [callablesFile = '', door = '', seed = '1', part = '', lastCallFile = '/dev/null'] = process.argv.slice(2)
const callables = JSON.parse(readFileSync(callablesFile, 'utf8')) as readonly Callable[]
const lastCall = openSync(lastCallFile, 'w')
const recipes = await recipesOf(door)
const caller = new Caller(recipes, new Random(Number(seed)), (call) =>
  writeSync(lastCall, `${call.slice(0, 199)}\n`.padEnd(200), 0),
)
for (const callable of callables) {
  if (callable.door !== door || !callable.name.includes(part) || isExcluded(callable.name)) continue
  const from = performance.now()
  if (callable.places.length > 0) await caller.tryOut(callable)
  if (performance.now() - from > 500) console.error(callable.name, Math.round(performance.now() - from), caller.calls)
}
await recipes.close()
writeSync(1, JSON.stringify({ calls: caller.calls, faults: caller.faults }))
process.exit(0)
