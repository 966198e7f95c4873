import test from 'node:test'
import { fenceCases } from './fence-cases.ts'
import { grounds } from './pairs.ts'

for (const ground of grounds)
  test(`the end of a call with buffers: ${ground.name}`, { skip: ground.skip }, (t) => fenceCases(t, ground))
