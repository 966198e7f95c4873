import { test } from 'node:test'
import { emptyGraph, graphShapes } from '../../../../tools/agreement/graph/graphs.ts'
import { hboOf } from '../../../../tools/agreement/graph/hbo.ts'
import { exploreShape } from './hbo-support.ts'
import { compareWithPlain } from './plain-order.ts'

const algorithm = hboOf({ rounds: 16 })

for (const neighbours of graphShapes(5))
  test(`agreement, validity and no deadlock in all rounds on ${JSON.stringify(neighbours)}`, () => {
    console.log(exploreShape(algorithm, neighbours))
  })

test('every order of single actions of three processes ends a round in the states that are found by stages', () => {
  for (const inputs of [
    ['0', '0', '1'],
    ['1', '0', '1'],
  ])
    console.log(compareWithPlain(emptyGraph(3), inputs))
})
