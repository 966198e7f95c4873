/** Scripts of Lua at the door, and what redis-server answers to them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { scriptCases } from './script-cases.ts'
import { openDoor, openRedis } from './support/door.ts'
import type { Answer } from './support/raw-client.ts'

useRuntimeDirectory()

for (const protocol of [2, 3] as const)
  test(`RESP${protocol}: scripts are answered as by Redis`, { skip: withoutRedis }, async () => {
    await using door = await openDoor()
    await using redis = await openRedis()
    const [own, theirs] = [await door.connect(protocol), await redis.connect(protocol)]
    const differences: Answer[][] = []
    for (const { script, keys = [], args = [] } of scriptCases) {
      const command = ['EVAL', script, String(keys.length), ...keys, ...args]
      const [answer, expected] = [await own.ask(...command), await theirs.ask(...command)]
      if (JSON.stringify(answer) !== JSON.stringify(expected)) differences.push([script, answer, expected])
    }
    assert.deepEqual(differences, [])
  })
