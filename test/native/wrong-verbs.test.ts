import assert from 'node:assert/strict'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { CHILD_MS_MAX, Child } from './elsewhere.ts'
import { noStandIn, StandIn } from './verbs-stand-in/stand-in.ts'

const program = fileURLToPath(new URL('./wrong-verbs.js', import.meta.url))

for (const seed of [Date.now() % 2 ** 31, 1])
  test(`no value of any argument of a verb crashes the process (seed ${seed})`, { skip: noStandIn }, async () => {
    using standIn = new StandIn()
    const { AETHER_STAND_IN_LOG: _, ...environment } = standIn.environment()
    await using child = new Child(`process.argv[2] = '${seed}'; import(${JSON.stringify(program)})`, {
      environment,
      timeoutMs: 2 * CHILD_MS_MAX,
    })
    const outcome = await child.ended()
    assert.deepEqual([outcome.code, outcome.signal], [0, null], `${outcome.stderr}\nreplay: node ${program} ${seed}`)
    assert.match(outcome.stderr, /all calls returned or threw\n$/)
  })
