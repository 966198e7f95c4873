import assert from 'node:assert/strict'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { CHILD_MS_MAX, Child } from './elsewhere.ts'

const program = fileURLToPath(new URL('./wrong-values.js', import.meta.url))

for (const seed of [Date.now() % 2 ** 31, 1, 20260])
  test(`no value of any argument crashes the process (seed ${seed})`, async () => {
    await using child = new Child(`process.argv[2] = '${seed}'; import(${JSON.stringify(program)})`, {
      timeoutMs: 2 * CHILD_MS_MAX,
    })
    const outcome = await child.ended()
    assert.deepEqual([outcome.code, outcome.signal], [0, null], `${outcome.stderr}\nreplay: node ${program} ${seed}`)
    assert.match(outcome.stderr, /all calls returned or threw\n$/)
  })
